// Random numbers of searches.
#pragma once

#include <cstdint>

namespace kinodyn::KINODYN_TARGET {

// Uniform in [0, 1), by xorshift64* (S. Vigna, ACM TOMS 42, 2016).
inline float uniform(std::uint64_t& state) {
    state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
    return static_cast<float>((state * 0x2545f4914f6cdd1du) >> 40) * 0x1p-24f;
}

}  // namespace kinodyn::KINODYN_TARGET
