// Prints the instruction sets of x86-64 that this machine runs, narrowest first, as a CMake list.
#include <cstdio>

#include "../cpp/core/x86.hpp"

int main() {
    const kinodyn::X86Support runs = kinodyn::x86_support();
    std::printf("sse2");
    if (runs.avx2) std::printf(";avx2");
    if (runs.avx512) std::printf(";avx512");
}
