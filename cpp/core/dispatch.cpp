#include "core/dispatch.hpp"

#include <atomic>
#include <cstdlib>

namespace kinodyn {

// One table of kernels for each instruction set that was compiled (KINODYN_ISAS of CMake).
namespace sse2 {
extern const Kernels kernels;
}
namespace avx2 {
extern const Kernels kernels;
}
namespace avx512 {
extern const Kernels kernels;
}
namespace neon {
extern const Kernels kernels;
}
namespace generic {
extern const Kernels kernels;
}

namespace {

std::vector<const Kernels*> supported() {
    std::vector<const Kernels*> list;
#if defined(KINODYN_GENERIC)
    list.push_back(&generic::kernels);
#endif
#if defined(KINODYN_NEON)
    list.push_back(&neon::kernels);
#endif
#if defined(__x86_64__)
    __builtin_cpu_init();
#endif
#if defined(KINODYN_SSE2)
    list.push_back(&sse2::kernels);
#endif
#if defined(KINODYN_AVX2)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) list.push_back(&avx2::kernels);
#endif
#if defined(KINODYN_AVX512)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) list.push_back(&avx512::kernels);
#endif
    return list;
}

const Kernels* find(const std::string& name) {
    for (const Kernels* k : supported())
        if (name == k->name) return k;
    return nullptr;
}

const Kernels* at_load() {
    const char* wanted = std::getenv("KINODYN_ISA");
    const Kernels* found = wanted ? find(wanted) : nullptr;
    return found ? found : supported().back();
}

std::atomic<const Kernels*>& current() {
    static std::atomic<const Kernels*> chosen{at_load()};
    return chosen;
}

}  // namespace

const Kernels& kernels() { return *current().load(std::memory_order_relaxed); }

std::vector<std::string> instruction_sets() {
    std::vector<std::string> names;
    for (const Kernels* k : supported()) names.emplace_back(k->name);
    return names;
}

bool use_instruction_set(const std::string& name) {
    const Kernels* found = find(name);
    if (found) current().store(found);
    return found != nullptr;
}

}  // namespace kinodyn
