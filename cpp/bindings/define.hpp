// Defines a function of the module that runs a kernel.
#pragma once

#include "bindings/args.hpp"

namespace kinodyn {

using Any = nanobind::handle;

// Takes the robot, then the arguments of `prepare`, then `out`. All may be None: the errors of Args are clearer
// than a type error of the binding. `prepare` fills the Args, in the order in which the kernel reads its inputs.
template <class Prepare, class... Arguments>
void define_as(nanobind::module_& m, const char* name, const char* kernel, Prepare prepare,
               void (Prepare::*)(Args&, Arguments...) const) {
    auto* const result = new ResultType(name);  // lives as long as the function
    const auto function = [handle = KernelHandle(kernel), result, prepare](Any robot, Arguments... arguments, Any out) {
        Args args(robot);
        prepare(args, arguments...);
        return args.run(handle.get(), out, *result);
    };
    m.def(name, function, nanobind::arg().none(), (static_cast<void>(sizeof(Arguments)), nanobind::arg().none())...,
          nanobind::arg().none() = nanobind::none());
}

// The kernel of the same name, or of another.
template <class Prepare>
void define(nanobind::module_& m, const char* name, Prepare prepare) {
    define_as(m, name, name, prepare, &Prepare::operator());
}
template <class Prepare>
void define(nanobind::module_& m, const char* name, const char* kernel, Prepare prepare) {
    define_as(m, name, kernel, prepare, &Prepare::operator());
}

}  // namespace kinodyn
