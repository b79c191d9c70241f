// Transposition of as many packs as each has lanes.
#pragma once

#include <utility>

#include "kernels/pack.hpp"
#include "kernels/shuffle.hpp"

namespace kinodyn::KINODYN_TARGET {

template <int step, class T, int... lane>
inline auto keep_low(typename T::Vector a, typename T::Vector b, std::integer_sequence<int, lane...>) {
    return shuffled<(lane & step ? Lanes<T>::count + lane - step : lane)...>(a, b);
}
template <int step, class T, int... lane>
inline auto keep_high(typename T::Vector a, typename T::Vector b, std::integer_sequence<int, lane...>) {
    return shuffled<(lane & step ? Lanes<T>::count + lane : lane + step)...>(a, b);
}
// Transposes as many packs as each has lanes. One stage swaps the off-diagonal blocks of size `step`.
template <class T, int step = 1>
inline void transpose(T* a) {
    if constexpr (step < Lanes<T>::count) {
        constexpr auto sequence = std::make_integer_sequence<int, Lanes<T>::count>{};
        for (int i = 0; i < Lanes<T>::count; ++i) {
            if (i & step) continue;
            const T low = keep_low<step, T>(a[i].v, a[i + step].v, sequence);
            const T high = keep_high<step, T>(a[i].v, a[i + step].v, sequence);
            a[i] = low, a[i + step] = high;
        }
        transpose<T, 2 * step>(a);
    }
}

}  // namespace kinodyn::KINODYN_TARGET
