// Parts of a block of memory, each at the start of a cache line.
#pragma once

#include "core/kernels.hpp"

namespace kinodyn::KINODYN_TARGET {

constexpr long aligned(long bytes) { return (bytes + 63) / 64 * 64; }

// A bump allocator; the block must be aligned to 64 bytes.
struct AlignedMemory {
    char* free;
    template <class T>
    T* take(long n) {
        char* start = free;
        free += bytes<T>(n);
        return reinterpret_cast<T*>(start);
    }
    template <class T>
    static constexpr long bytes(long n) {
        return aligned(static_cast<long>(sizeof(T)) * n);
    }
};

}  // namespace kinodyn::KINODYN_TARGET
