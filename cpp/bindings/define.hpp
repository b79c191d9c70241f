// Defines a function of the module that runs a kernel.
#pragma once

#include "bindings/args.hpp"

namespace kinodyn {

using Any = nanobind::handle;

// Takes the robot, then the arguments of `prepare`, then `out`. All may be None: the errors of Args are clearer
// than a type error of the binding. `prepare` fills the Args, in the order in which the kernel reads its inputs.
template <class Prepare, class... Arguments>
void define_as(nanobind::module_& m, const char* name, const char* kernel, Precision precision, Prepare prepare,
               void (Prepare::*)(Args&, Arguments...) const) {
    auto* const result = new ResultType(name);  // lives as long as the function
    const auto function = [handle = KernelHandle(kernel), result, precision, prepare](Any robot, Arguments... arguments,
                                                                                      Any out) {
        Args args(robot, precision);
        prepare(args, arguments...);
        return args.run(handle.get(), out, *result);
    };
    m.def(name, function, nanobind::arg().none(), (static_cast<void>(sizeof(Arguments)), nanobind::arg().none())...,
          nanobind::arg().none() = nanobind::none());
}

// The kernel of the same name, or of another.
template <class Prepare>
void define(nanobind::module_& m, const char* name, Prepare prepare) {
    define_as(m, name, name, Precision::Float64, prepare, &Prepare::operator());
}
template <class Prepare>
void define(nanobind::module_& m, const char* name, const char* kernel, Prepare prepare) {
    define_as(m, name, kernel, Precision::Float64, prepare, &Prepare::operator());
}

// The kernel, and the one in float32 as a function of its own: `rnea` and `rnea_float32`.
template <class Prepare>
void define_both(nanobind::module_& m, const std::string& name, const std::string& kernel, Prepare prepare) {
    define(m, name.c_str(), kernel.c_str(), prepare);
    define_as(m, (name + "_float32").c_str(), (kernel + "_float32").c_str(), Precision::Float32, prepare,
              &Prepare::operator());
}
template <class Prepare>
void define_both(nanobind::module_& m, const std::string& name, Prepare prepare) {
    define_both(m, name, name, prepare);
}

}  // namespace kinodyn
