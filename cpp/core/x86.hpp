// Which instruction sets of x86-64 this processor and its operating system support.
//
// By the instruction cpuid: not every C++ runtime has what __builtin_cpu_supports reads.
#pragma once

#if defined(__x86_64__)
#include <cpuid.h>

namespace kinodyn {

struct X86Support {
    bool avx2, avx512;
};

inline X86Support x86_support() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid(1, &a, &b, &c, &d)) return {false, false};
    const bool fma = c >> 12 & 1, xgetbv = c >> 27 & 1, avx = c >> 28 & 1;
    if (!(fma && xgetbv && avx) || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) return {false, false};
    unsigned saved = 0, high = 0;  // registers that the operating system saves
    __asm__("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
    const bool ymm = (saved & 0x6) == 0x6, zmm = (saved & 0xe6) == 0xe6;
    const bool avx2 = b >> 5 & 1, avx512f = b >> 16 & 1, avx512dq = b >> 17 & 1;
    return {ymm && avx2, zmm && avx2 && avx512f && avx512dq};
}

}  // namespace kinodyn
#endif
