// Permutation of the elements of two vectors.
#pragma once

namespace kinodyn::KINODYN_TARGET {

// The elements of a, followed by those of b, with the given indices. GCC has the function of clang from version 12 on.
template <int... index, class Vector>
inline Vector shuffled(Vector a, Vector b) {
#if defined(__clang__) || __GNUC__ >= 12
    return __builtin_shufflevector(a, b, index...);
#else
    return __builtin_shuffle(a, b, decltype(a < b){index...});
#endif
}

}  // namespace kinodyn::KINODYN_TARGET
