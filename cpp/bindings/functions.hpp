// The functions of the module, a file for each group.
#pragma once

#include "bindings/robot.hpp"

namespace kinodyn {

void bind_kinematics(nanobind::module_& m);
void bind_dynamics(nanobind::module_& m);
void bind_derivatives(nanobind::module_& m);
void bind_contact(nanobind::module_& m);
void bind_ik(nanobind::module_& m);
void bind_tasks(nanobind::module_& m);
void bind_whole_body(nanobind::module_& m);
void bind_id_qp(nanobind::module_& m);
void bind_qp(nanobind::module_& m);
void bind_frame_control(nanobind::module_& m);
void bind_sphere_fit(nanobind::module_& m);
void bind_obstacles(nanobind::module_& m);
void bind_collision(nanobind::module_& m);
void bind_planning(nanobind::module_& m);
void bind_curves(nanobind::module_& m);
void bind_trajectory(nanobind::module_& m);
void bind_constrained_planning(nanobind::module_& m);
void bind_distance(nanobind::module_& m);
void bind_footsteps(nanobind::module_& m);
void bind_retarget(nanobind::module_& m);
void bind_text(nanobind::module_& m);

// Raises unless the robot has moving mass, as functions of its CoM require.
void require_mass(const CompiledRobot& robot);

}  // namespace kinodyn
