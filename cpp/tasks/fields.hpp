// Named fields of tasks and limits that Python passes to the core.
//
// Each task or limit has a TaskEntry of integers, fixed when a solver is built, and a block of numbers, which may
// change from call to call and broadcasts over states. The block begins with the fields below; each header of this
// folder adds its own, such as its target.
#pragma once

#include "core/layout.hpp"

// Everything that kernels compute with is compiled once for each instruction set, in a namespace of its own; types of
// other namespaces would be shared between them by the linker.

namespace kinodyn {

struct TaskEntry {
    std::int32_t kind;              // its place in Registry
    std::int32_t level;             // of the hierarchy; 0 comes first
    std::int32_t frame, reference;  // frames of the robot; -1: the world
    std::int32_t rows;
    std::int32_t inequality;  // J x <= e instead of J x = e
    std::int32_t required;    // whether a solution must meet it
    std::int32_t offset;      // of its block among the numbers of all tasks
    std::int32_t memory;      // numbers that it keeps from one step to the next

    static constexpr auto layout() {
        return named("task_entry", field("kind", &TaskEntry::kind), field("level", &TaskEntry::level),
                     field("frame", &TaskEntry::frame), field("reference", &TaskEntry::reference),
                     field("rows", &TaskEntry::rows), field("inequality", &TaskEntry::inequality),
                     field("required", &TaskEntry::required), field("offset", &TaskEntry::offset),
                     field("memory", &TaskEntry::memory));
    }
};

// Quantities that the kernel task_rows computes.
enum class TaskOutput : int { Error, Jacobian, Drift, Labels, BrakingLabels };
constexpr auto codes_of(TaskOutput) {
    using O = TaskOutput;
    return codes("task_output", code("error", O::Error), code("jacobian", O::Jacobian), code("drift", O::Drift),
                 code("labels", O::Labels), code("braking_labels", O::BrakingLabels));
}

// Settings of the kernel `task_rows`.
struct TaskRowsPlan {
    const TaskEntry* entry;
    TaskOutput output;
};

namespace KINODYN_TARGET {

// The dimensions of a block that depend on the robot or on the user.
struct TaskSizes {
    std::int32_t rows, nq, nv;

    static constexpr auto layout() {
        return named("task_sizes", field("rows", &TaskSizes::rows), field("nq", &TaskSizes::nq),
                     field("nv", &TaskSizes::nv));
    }
};

struct TaskSwitches {
    double enabled;  // 0: the task has no rows
    double gain;     // velocity level: fraction of the error that one step removes
    double braking;  // acceleration level, limits: deceleration of the margin that is always available

    static constexpr auto layout() {
        return named("task_switches", field("enabled", &TaskSwitches::enabled), field("gain", &TaskSwitches::gain),
                     field("braking", &TaskSwitches::braking));
    }
};

// The fields that all tasks have: one number for each row, but for the motion of the target.
struct TaskFields {
    const TaskSwitches* switches;
    const double *weights, *stiffness, *damping;  // stiffness [1/s^2] and damping [1/s]: acceleration level
    const double *target, *velocity, *acceleration;

    using Sizes = TaskSizes;
};

template <class Rows, class Motion, class... Target>
constexpr auto task_parts(Rows rows, Motion motion, Target... target) {
    return std::make_tuple(
        record(&TaskFields::switches), array("weights", &TaskFields::weights, rows),
        array("stiffness", &TaskFields::stiffness, rows), array("damping", &TaskFields::damping, rows),
        array("target", &TaskFields::target, target...), array("velocity", &TaskFields::velocity, motion),
        array("acceleration", &TaskFields::acceleration, motion));
}

}  // namespace KINODYN_TARGET

}  // namespace kinodyn
