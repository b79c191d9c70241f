#include "reach.hpp"

#include <nanobind/ndarray.h>

#include <cmath>

#include "../core/dispatch.hpp"
#include "door.hpp"

namespace nb = nanobind;

namespace kinodyn {

namespace {

using Any = nb::handle;

// targets: a dict of frame -> (pose (..., 16), weights (..., 6)), which come after the limits of q.
nb::dict aim(Door& door, Any targets) {
    const nb::dict given = nb::cast<nb::dict>(targets);
    door.towards(given.keys());
    door.solve_for_bodies();
    return given;
}
void input_limits(Door& door, Any lower, Any upper) {
    door.input("lower", lower, door.robot().model.nq);
    door.input("upper", upper, door.robot().model.nq);
}
void input_targets(Door& door, const nb::dict& given) {
    for (const auto& item : given) door.input("target", item.second[0], 16);
    for (const auto& item : given) door.input("weights", item.second[1], 6);
}

nb::object reach(Any robot, Any q0, Any lower, Any upper, Any settings, Any targets, int method) {
    Door door(robot);
    const nb::dict given = aim(door, targets);
    door.configuration("q0", q0);
    input_limits(door, lower, upper);
    door.input("settings", settings, 6);
    input_targets(door, given);
    door.call().mode = method;
    door.output({door.robot().model.nq});
    door.output({});
    door.output({});
    return door.run(kernels().reach, nb::none());
}

nb::object misfit(Any robot, Any q, Any lower, Any upper, Any allowed, Any targets) {
    Door door(robot);
    const nb::dict given = aim(door, targets);
    door.configuration("q", q);
    input_limits(door, lower, upper);
    door.input("allowed", allowed, 3);
    input_targets(door, given);
    door.output({2});
    door.output({});
    door.output({});
    door.output({static_cast<long>(given.size()), 4, 4});
    return door.run(kernels().misfit, nb::none());
}

// Are these poses (..., 4, 4) finite, their rotations orthonormal within 1e-6 and right-handed, their last rows
// 0 0 0 1? What is wrong with those that are not is for others to say.
bool are_poses(nb::ndarray<const double, nb::c_contig, nb::device::cpu> poses) {
    constexpr double tolerance = 1e-6, largest = 1e60;
    const double* T = poses.data();
    for (const double* end = T + poses.size(); T < end; T += 16) {
        bool right = true;
        for (int i = 0; i < 3; ++i) {
            right = right && std::fabs(T[4 * i + 3]) < largest && std::fabs(T[12 + i]) <= tolerance;
            for (int j = 0; j < 3; ++j) {
                const double dot = T[i] * T[j] + T[4 + i] * T[4 + j] + T[8 + i] * T[8 + j];
                right = right && std::fabs(dot - (i == j)) <= tolerance;
            }
        }
        const double volume = T[0] * (T[5] * T[10] - T[6] * T[9]) - T[1] * (T[4] * T[10] - T[6] * T[8]) +
                              T[2] * (T[4] * T[9] - T[5] * T[8]);
        if (!(right && volume > 0 && std::fabs(T[15] - 1) <= tolerance)) return false;
    }
    return true;
}

}  // namespace

void bind_reach(nb::module_& m) {
    const auto any = nb::arg().none();
    m.def("reach", &reach, any, any, any, any, any, any, nb::arg());
    m.def("misfit", &misfit, any, any, any, any, any, any);
    m.def("are_poses", &are_poses);
}

}  // namespace kinodyn
