// What the kernel `closed_form` takes and returns.
#pragma once

#include "core/kernels.hpp"

namespace kinodyn {

// A recognised geometry of six joints, or of seven of which the first or the last is given (`kinodyn.ik.analytic`).
// Flags are 0 or 1.
struct ClosedFormPlan {
    double parallel;       // axes 2, 3, 4 are parallel; otherwise 4, 5, 6 intersect
    double reversed;       // the chain is solved from the tool
    double arm_parallel;   // two axes of the arm are parallel; otherwise two intersect
    double arm_backwards;  // the arm is solved from its other end
    double size;           // of the chain [m]
    double turns_wrapped;  // angles are brought near `near`
    double refine_below;   // branches with a larger residual than this are not solutions
    double given_first;    // joint 1 of seven is given
    double given_last;     // joint 7 of seven is given
    double given_index;    // its place in q
    double given_axis[12];
    double T_zero_inverse[16];
    double axes[6][12];  // lines: rotation by rows, its third column the direction, then a point
    double centre[3];    // where the wrist's axes intersect; of parallel ones: axes 5 and 6
    double arm[3][12];   // the arm's lines, in the order of the solution
    double arm_centre[3];
    double links[3][12];  // parallel lines: of the arm two, otherwise three
    double signs[2];      // of angles about the second and third of them

    static constexpr auto layout() {
        using P = ClosedFormPlan;
        return named("closed_form_plan", field("parallel", &P::parallel), field("reversed", &P::reversed),
                     field("arm_parallel", &P::arm_parallel), field("arm_backwards", &P::arm_backwards),
                     field("size", &P::size), field("turns_wrapped", &P::turns_wrapped),
                     field("refine_below", &P::refine_below), field("given_first", &P::given_first),
                     field("given_last", &P::given_last), field("given_index", &P::given_index),
                     field("given_axis", &P::given_axis), field("T_zero_inverse", &P::T_zero_inverse),
                     field<6, 12>("axes", &P::axes), field("centre", &P::centre), field<3, 12>("arm", &P::arm),
                     field("arm_centre", &P::arm_centre), field<3, 12>("links", &P::links), field("signs", &P::signs));
    }
};

namespace closed_form_input {
enum {
    target,   // (16)
    plan,     // ClosedFormPlan
    indices,  // (6): the joints' places in q
    lower,    // (6) [rad]
    upper,
    near,
    rest,  // (nq): the other coordinates
};
}
constexpr int closed_form_branches = 8;
namespace closed_form_output {
enum {
    q,         // (8, nq)
    residual,  // (8)
    outside,   // (8, 6): beyond a limit
    regular,   // 1 if no case was degenerate: the results are then valid
};
}

}  // namespace kinodyn
