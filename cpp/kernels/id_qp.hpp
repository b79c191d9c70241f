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

}  // namespace kinodyn
