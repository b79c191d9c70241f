// Messages of what went wrong in a kernel: which argument, which state of the batch, which element.
#include <cmath>
#include <cstdio>

#include "bindings/args.hpp"

namespace kinodyn {

namespace {

std::string number_text(double x) {
    char text[32];
    std::snprintf(text, sizeof text, "%.9g", x);
    return text;
}

}  // namespace

// "[3, 0, 12]": where in an input, or which state if input is null.
std::string Args::index_text(long state, const Input* input, int element) const {
    std::string text;
    if (!input || input->stride != 0) {
        long rest = state;
        for (int i = batch_.ndim - 1; i >= 0; --i) {
            text = std::to_string(rest % batch_.dims[i]) + (text.empty() ? "" : ", ") + text;
            rest /= batch_.dims[i];
        }
    }
    if (input) text += (text.empty() ? "" : ", ") + std::to_string(element);
    return "[" + text + "]";
}

void Args::raise(const Fault& fault) const {
    const std::string where = batch_.ndim ? " at state " + index_text(fault.state, nullptr, 0) : "";
    const Input& input = call_.in[fault.argument];
    const double* row = input.data + fault.state * input.stride;
    switch (fault.kind) {
        case FaultKind::NotFinite:
            raise_input_error(std::string(names_[fault.argument]) + index_text(fault.state, &input, fault.element) +
                              " is not finite: " + number_text(row[fault.element]));
        case FaultKind::NotUnit: {
            const double* u = row + fault.element;
            const double norm = std::sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2] + u[3] * u[3]);
            const std::string range = std::to_string(fault.element) + ":" + std::to_string(fault.element + 4);
            raise_input_error(std::string(names_[fault.argument]) + "[..., " + range +
                              "] must be a unit quaternion [x y z w]; its norm is " + number_text(norm) + where +
                              ". Divide by the norm if only the direction is meant");
        }
        case FaultKind::Singular: {
            const std::size_t dof = static_cast<std::size_t>(fault.element);
            raise_error("SingularError", "the mass matrix is singular" + where + ": link '" + robot_.dof_link[dof] +
                                             "' moves on joint '" + robot_.dof_joint[dof] +
                                             "' against no inertia. Give the link, or what hangs on it, mass and "
                                             "inertia, or the joint an armature");
        }
        default:
            raise_error("InputError",
                        "the result is too large for float64" + where + ": an argument is finite but far too big");
    }
}

}  // namespace kinodyn
