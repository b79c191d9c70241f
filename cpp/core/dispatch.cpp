#include "core/dispatch.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <stdexcept>

#include "core/x86.hpp"

namespace kinodyn {

namespace {

bool runs_here(const std::string& name) {
#if defined(__x86_64__)
    if (name == "avx2") return x86_support().avx2;
    if (name == "avx512") return x86_support().avx512;
#endif
    return true;
}

Kernel find_kernel(const InstructionSet& set, const std::string& name) {
    for (int k = 0; k < set.n_lists; ++k)
        for (int i = 0; i < set.lists[k]->size; ++i)
            if (name == set.lists[k]->entries[i].name) return set.lists[k]->entries[i].kernel;
    return nullptr;
}

// The kernels that handles refer to, in the order of the handles.
struct Table {
    const InstructionSet* set;
    std::vector<Kernel> kernels;
};

std::vector<Table>& tables() {
    static std::vector<Table> all = [] {
        std::vector<Table> runnable;
        for (int k = 0; k < n_compiled_instruction_sets; ++k)
            if (runs_here(compiled_instruction_sets[k].name)) runnable.push_back({&compiled_instruction_sets[k], {}});
        if (runnable.empty())
            throw std::runtime_error(
                std::string("kinodyn was compiled for ") + compiled_instruction_sets[0].name +
                ", which this processor does not support; compile it here, or with KINODYN_ISAS=all");
        return runnable;
    }();
    return all;
}

const Table* find_table(const std::string& name) {
    for (const Table& table : tables())
        if (name == table.set->name) return &table;
    return nullptr;
}

const Table* at_load() {
    const char* chosen = std::getenv("KINODYN_ISA");
    const Table* found = chosen ? find_table(chosen) : nullptr;
    return found ? found : &tables().back();
}

std::atomic<const Table*>& current() {
    static std::atomic<const Table*> table{at_load()};
    return table;
}

}  // namespace

const InstructionSet& instruction_set() { return *current().load(std::memory_order_relaxed)->set; }

std::vector<const InstructionSet*> instruction_sets() {
    std::vector<const InstructionSet*> sets;
    for (const Table& table : tables()) sets.push_back(table.set);
    return sets;
}

bool use_instruction_set(const std::string& name) {
    const Table* found = find_table(name);
    if (found) current().store(found);
    return found != nullptr;
}

std::vector<std::string> kernel_names(const InstructionSet& set) {
    std::vector<std::string> names;
    for (int k = 0; k < set.n_lists; ++k)
        for (int i = 0; i < set.lists[k]->size; ++i) names.emplace_back(set.lists[k]->entries[i].name);
    std::sort(names.begin(), names.end());
    return names;
}

KernelHandle::KernelHandle(const char* name) : index_(static_cast<int>(tables().front().kernels.size())) {
    for (Table& table : tables()) {
        const Kernel kernel = find_kernel(*table.set, name);
        if (!kernel)
            throw std::runtime_error(std::string("the kernel '") + name + "' is missing from the instruction set '" +
                                     table.set->name + "'");
        table.kernels.push_back(kernel);
    }
}

Kernel KernelHandle::get() const { return current().load(std::memory_order_relaxed)->kernels[index_]; }

}  // namespace kinodyn
