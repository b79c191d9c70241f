// The algorithms' names, one function for each, so that the table and the files that define them agree.
#pragma once

#include "core/kernels.hpp"

namespace kinodyn::KINODYN_TARGET {

using Run = void(const Call&, long begin, long end, Fault&);

Run poses, jacobian, jacobian_dot, velocity, acceleration;          // kinematics.cpp
Run com, com_jacobian, momentum_matrix, momentum, momentum_rate;    // centroidal.cpp
Run rnea, bias, aba;                                                // rnea.cpp, aba.cpp
Run crba, gravity, energy, factorize, solve;                        // crba.cpp
Run coriolis_matrix, rnea_derivatives, aba_derivatives, regressor;  // rnea_derivatives.cpp
Run state, state_jacobian;                                          // state.cpp
Run integrate, difference, interpolate;                             // manifold.cpp

Run integrate_dynamics;                                               // integrate_dynamics.cpp
Run constrained, impact, constraint_rows, constraint_error, project;  // contact.cpp
Run point_motion, soft_forces;                                        // soft_contact.cpp

Run ik;           // ik.cpp
Run ik_residual;  // ik_residual.cpp
Run task_rows;    // task_rows.cpp
Run whole_body;   // whole_body.cpp

Run id_qp;          // id_qp.cpp
Run frame_control;  // frame_control.cpp

}  // namespace kinodyn::KINODYN_TARGET
