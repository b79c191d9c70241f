// Rows added for violations at the end of a step, which is then solved again, as in a cutting-plane method. They serve
// limits whose rows are a local model.
#pragma once

#include "kernels/sphere_distance.hpp"
#include "tasks/fields.hpp"

namespace kinodyn::KINODYN_TARGET {

struct CuttingPlanes {
    static constexpr int max_cuts = 24;
    struct Cut {
        const TaskEntry* limit;
        Proximity spheres;
        double tightening;  // [m] reduction of the margin by curvature
        bool violated;      // by the step that was checked last
    };
    Cut cuts[max_cuts];
    int count = 0;

    // What limits remember from one step to the next, in the order of the entries from `first` on; null if nothing is.
    double* memory = nullptr;
    const TaskEntry* first = nullptr;
    double* memory_of(const TaskEntry& entry) const {
        if (!memory) return nullptr;
        long before = 0;
        for (const TaskEntry* other = first; other != &entry; ++other) before += other->memory;
        return memory + before;
    }

    // Adds a row if there is room, or tightens it by `excess` if it was there already.
    void add(const TaskEntry* limit, const Proximity& spheres, bool had_row, double excess) {
        for (int k = 0; k < count; ++k) {
            Cut& cut = cuts[k];
            if (cut.limit != limit || cut.spheres.pair != spheres.pair || cut.spheres.first != spheres.first ||
                cut.spheres.second != spheres.second)
                continue;
            cut.tightening += excess, cut.violated = true;
            return;
        }
        if (count < max_cuts) cuts[count++] = {limit, spheres, had_row ? excess : 0, true};
    }
};

}  // namespace kinodyn::KINODYN_TARGET
