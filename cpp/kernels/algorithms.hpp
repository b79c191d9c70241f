// The algorithms' names, one function for each, so that the table and the files that define them agree.
#pragma once

#include "../core/kernels.hpp"

namespace kinodyn::KINODYN_TARGET {

using Run = void(const Call&, long begin, long end, Fault&);

Run poses, jacobian, jacobian_dot, velocity, acceleration;                 // kinematics.cpp
Run com, com_jacobian, momentum_matrix, momentum, momentum_rate;           // centroidal.cpp
Run inverse, bias, forward;                                                // recursion.cpp
Run mass_matrix, gravity, energy, factorize, solve;                        // inertia.cpp
Run coriolis_matrix, inverse_derivatives, forward_derivatives, regressor;  // derivatives.cpp
Run state, state_jacobian;                                                 // state.cpp
Run integrate, difference, interpolate;                                    // manifold.cpp

Run advance;                                                         // advance.cpp
Run constrained, impact, constraint_rows, constraint_error, settle;  // contact.cpp
Run point_motion, soft_forces;                                       // soft.cpp

Run reach;       // reach.cpp
Run misfit;      // misfit.cpp
Run whole_body;  // whole_body.cpp

Run inverse_dynamics;  // inverse_dynamics.cpp
Run frame_control;     // frame_control.cpp

}  // namespace kinodyn::KINODYN_TARGET
