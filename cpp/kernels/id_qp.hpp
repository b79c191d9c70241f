// Inputs and outputs of the kernel id_qp.
#pragma once

#include "tasks/contact.hpp"
#include "tasks/fields.hpp"

namespace kinodyn {

struct IdQpPlan {
    const TaskEntry* tasks;  // in the order of their levels; limits with rows come last
    const ContactEntry* contacts;
    int n_tasks, n_contacts, levels;
};

namespace id_qp_io {
enum Input : int { Configuration, Velocity, Settings, Bounds, Tasks, Contacts, WarmStart };
enum Output : int { Acceleration, Forces, Torque, Active, TaskResiduals, Excess, ContactResiduals, JointLimits, Info };
}  // namespace id_qp_io

struct IdQpSettings {
    double dt;                                 // [s]
    double acceleration_weight, force_weight;  // regularisation

    static constexpr auto layout() {
        using S = IdQpSettings;
        return named("id_qp_settings", field("dt", &S::dt), field("acceleration_weight", &S::acceleration_weight),
                     field("force_weight", &S::force_weight));
    }
};

struct IdQpInfo {
    double iterations;  // of the active set
    double relaxed;     // whether bounds or contacts had to be relaxed
    double unmet;       // whether a constraint could still not be met

    static constexpr auto layout() {
        return named("id_qp_info", field("iterations", &IdQpInfo::iterations), field("relaxed", &IdQpInfo::relaxed),
                     field("unmet", &IdQpInfo::unmet));
    }
};

// The inequality constraints, in this order: accelerations and torques of joints, rows of limits, cones of contacts.
struct IdQpConstraintSizes {
    std::int32_t nv, limit_rows, cone_rows;

    static constexpr auto layout() {
        using S = IdQpConstraintSizes;
        return named("id_qp_constraint_sizes", field("nv", &S::nv), field("limit_rows", &S::limit_rows),
                     field("cone_rows", &S::cone_rows));
    }
};

struct IdQpConstraints {
    const double *acceleration, *torque, *limits, *cones;

    using Sizes = IdQpConstraintSizes;
    static constexpr auto layout() {
        using C = IdQpConstraints;
        return named("id_qp_constraints", array("acceleration", &C::acceleration, &Sizes::nv),
                     array("torque", &C::torque, &Sizes::nv), array("limits", &C::limits, &Sizes::limit_rows),
                     array("cones", &C::cones, &Sizes::cone_rows));
    }
};

// The constraints that are active in each level, and in the two problems that relax bounds and contacts.
struct WorkingSetSizes {
    std::int32_t levels, constraints;

    static constexpr auto layout() {
        return named("working_set_sizes", field("levels", &WorkingSetSizes::levels),
                     field("constraints", &WorkingSetSizes::constraints));
    }
};

struct WorkingSets {
    const double *levels, *relaxed;

    using Sizes = WorkingSetSizes;
    static constexpr auto layout() {
        return named("working_sets", array("levels", &WorkingSets::levels, &Sizes::levels, &Sizes::constraints),
                     array("relaxed", &WorkingSets::relaxed, 2, &Sizes::constraints));
    }
};
}  // namespace kinodyn
