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
    const auto number = [&](int element) {
        return precision_ == Precision::Float64 ? input.row(fault.state)[element]
                                                : static_cast<double>(input.row<float>(fault.state)[element]);
    };
    switch (fault.kind) {
        case FaultKind::NotFinite:
            raise_input_error(std::string(names_[fault.argument]) + index_text(fault.state, &input, fault.element) +
                              (precision_ == Precision::Float32 ? " is not finite in float32: " : " is not finite: ") +
                              number_text(number(fault.element)));
        case FaultKind::NotUnit: {
            double square = 0;
            for (int i = 0; i < 4; ++i) square += number(fault.element + i) * number(fault.element + i);
            const std::string range = std::to_string(fault.element) + ":" + std::to_string(fault.element + 4);
            raise_input_error(std::string(names_[fault.argument]) + "[..., " + range +
                              "] must be a unit quaternion [x y z w]; its norm is " + number_text(std::sqrt(square)) +
                              where + ". Divide by the norm if only the direction is meant");
        }
        case FaultKind::Singular: {
            const std::size_t dof = static_cast<std::size_t>(fault.element);
            raise_error("SingularError", "the mass matrix is singular" + where + ": link '" + robot_.dof_link[dof] +
                                             "' moves on joint '" + robot_.dof_joint[dof] +
                                             "' against no inertia. Give the link, or what hangs on it, mass and "
                                             "inertia, or the joint an armature");
        }
        case FaultKind::TooLarge:
            raise_input_error("the result of one state is too large for batches in float32; use float64");
        default:
            raise_error("InputError", std::string("the result is too large for ") + name_of(precision_) + where +
                                          ": an argument is finite but far too big");
    }
}

}  // namespace kinodyn
