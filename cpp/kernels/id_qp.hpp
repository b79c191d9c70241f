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
};
template <>
struct Layout<IdQpSettings> {
    static constexpr const char* name = "id_qp_settings";
    static constexpr auto fields() {
        using S = IdQpSettings;
        return std::make_tuple(field("dt", &S::dt), field("acceleration_weight", &S::acceleration_weight),
                               field("force_weight", &S::force_weight));
    }
};

struct IdQpInfo {
    double iterations;  // of the active set
    double relaxed;     // whether bounds or contacts had to be relaxed
    double unmet;       // whether a constraint could still not be met
};
template <>
struct Layout<IdQpInfo> {
    static constexpr const char* name = "id_qp_info";
    static constexpr auto fields() {
        return std::make_tuple(field("iterations", &IdQpInfo::iterations), field("relaxed", &IdQpInfo::relaxed),
                               field("unmet", &IdQpInfo::unmet));
    }
};

// The inequality constraints, in this order: accelerations and torques of joints, rows of limits, cones of contacts.
struct IdQpConstraintSizes {
    std::int32_t nv, limit_rows, cone_rows;
};
struct IdQpConstraints {
    const double *acceleration, *torque, *limits, *cones;
};
template <>
struct Layout<IdQpConstraintSizes> {
    static constexpr const char* name = "id_qp_constraint_sizes";
    static constexpr auto fields() {
        using S = IdQpConstraintSizes;
        return std::make_tuple(field("nv", &S::nv), field("limit_rows", &S::limit_rows),
                               field("cone_rows", &S::cone_rows));
    }
};
template <>
struct BlockLayout<IdQpConstraints> {
    static constexpr const char* name = "id_qp_constraints";
    using Sizes = IdQpConstraintSizes;
    static constexpr auto parts() {
        using C = IdQpConstraints;
        return std::make_tuple(array("acceleration", &C::acceleration, &Sizes::nv),
                               array("torque", &C::torque, &Sizes::nv), array("limits", &C::limits, &Sizes::limit_rows),
                               array("cones", &C::cones, &Sizes::cone_rows));
    }
};

// The constraints that are active in each level, and in the two problems that relax bounds and contacts.
struct WorkingSetSizes {
    std::int32_t levels, constraints;
};
struct WorkingSets {
    const double *levels, *relaxed;
};
template <>
struct Layout<WorkingSetSizes> {
    static constexpr const char* name = "working_set_sizes";
    static constexpr auto fields() {
        return std::make_tuple(field("levels", &WorkingSetSizes::levels),
                               field("constraints", &WorkingSetSizes::constraints));
    }
};
template <>
struct BlockLayout<WorkingSets> {
    static constexpr const char* name = "working_sets";
    using Sizes = WorkingSetSizes;
    static constexpr auto parts() {
        return std::make_tuple(array("levels", &WorkingSets::levels, &Sizes::levels, &Sizes::constraints),
                               array("relaxed", &WorkingSets::relaxed, 2, &Sizes::constraints));
    }
};

}  // namespace kinodyn
