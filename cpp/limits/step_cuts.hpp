// Additional rows for limits whose rows are a local model: violations at the end of a step, which is then solved again.
#pragma once

#include "kernels/sphere_distance.hpp"
#include "tasks/fields.hpp"

namespace kinodyn::KINODYN_TARGET {

struct StepCuts {
    static constexpr int most = 24;
    struct Cut {
        const TaskEntry* limit;
        Proximity spheres;
        double tightening;  // [m] reduction of the margin by curvature
    };
    Cut cuts[most];
    int count = 0;

    // Pairs that are close at the start of the step, with distances; all others are farther apart than `beyond` [m].
    static constexpr int most_near = 64;
    struct Near {
        int pair;
        double distance;
    };
    struct Neighbourhood {
        const TaskEntry* limit = nullptr;
        Near near[most_near];
        int count = 0;
        double beyond = -HUGE_VAL;
    };
    Neighbourhood neighbourhood;  // of the limit that was evaluated last

    // Adds a row, or tightens it by `excess` if it was there already; false if there is no room.
    bool add(const TaskEntry* limit, const Proximity& spheres, bool had_row, double excess) {
        for (int k = 0; k < count; ++k) {
            Cut& cut = cuts[k];
            if (cut.limit != limit || cut.spheres.pair != spheres.pair || cut.spheres.first != spheres.first ||
                cut.spheres.second != spheres.second)
                continue;
            cut.tightening += excess;
            return true;
        }
        if (count == most) return false;
        cuts[count++] = {limit, spheres, had_row ? excess : 0};
        return true;
    }
};

}  // namespace kinodyn::KINODYN_TARGET
