// Prints the instruction sets of x86-64 that this machine runs, narrowest first, as a CMake list.
#include <cstdio>

int main() {
    __builtin_cpu_init();
    std::printf("sse2");
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) std::printf(";avx2");
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) std::printf(";avx512");
}
