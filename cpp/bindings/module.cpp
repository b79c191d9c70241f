// The module kinodyn._core: one line per kernel. Arguments are positional; the Python side names and documents them.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdlib>

#include "bindings/args.hpp"
#include "bindings/contact.hpp"
#include "bindings/control.hpp"
#include "bindings/id_qp.hpp"
#include "bindings/ik.hpp"
#include "bindings/layouts.hpp"
#include "bindings/qp.hpp"
#include "bindings/tasks.hpp"
#include "bindings/whole_body.hpp"
#include "core/dispatch.hpp"
#include "core/pool.hpp"

namespace nb = nanobind;
using namespace kinodyn;
using Any = nb::handle;

namespace {

nb::object pose(Any robot, Any q, Any frame, Any out) {
    Door door(robot);
    door.along(frame_from(door.robot(), frame));
    door.configuration("q", q);
    door.output({4, 4});
    return door.run(kernels().poses, out);
}

nb::object poses(Any robot, Any q, Any frames, Any out) {
    Door door(robot);
    if (frames.is_none())
        door.everywhere();
    else
        door.towards(frames);
    door.configuration("q", q);
    door.output({door.call().n_more, 4, 4});
    return door.run(kernels().poses, out);
}

nb::object jacobian(Any robot, Any q, Any frame, Any reference, Any out) {
    Door door(robot);
    door.along(frame_from(door.robot(), frame));
    door.call().mode = reference_from(reference);
    door.configuration("q", q);
    door.output({6, door.robot().model.nv});
    return door.run(kernels().jacobian, out);
}

nb::object jacobian_dot(Any robot, Any q, Any v, Any frame, Any reference, Any out) {
    Door door(robot);
    door.along(frame_from(door.robot(), frame));
    door.call().mode = reference_from(reference);
    door.configuration("q", q);
    door.tangent("v", v);
    door.output({6, door.robot().model.nv});
    return door.run(kernels().jacobian_dot, out);
}

nb::object velocity(Any robot, Any q, Any v, Any frame, Any reference, Any out) {
    Door door(robot);
    door.along(frame_from(door.robot(), frame));
    door.call().mode = reference_from(reference);
    door.configuration("q", q);
    door.tangent("v", v);
    door.output({6});
    return door.run(kernels().velocity, out);
}

nb::object acceleration(Any robot, Any q, Any v, Any a, Any frame, Any reference, bool classical, Any out) {
    Door door(robot);
    door.along(frame_from(door.robot(), frame));
    door.call().mode = reference_from(reference) + (classical ? 4 : 0);
    door.configuration("q", q);
    door.tangent("v", v);
    door.tangent("a", a);
    door.output({6});
    return door.run(kernels().acceleration, out);
}

// Functions of the centre of mass need some mass.
void need_mass(const CompiledRobot& robot) {
    if (robot.model.total_mass > 0) return;
    const nb::object error = nb::module_::import_("kinodyn.errors").attr("SingularError");
    PyErr_SetString(error.ptr(), "this robot has no moving mass, so it has no centre of mass");
    throw nb::python_error();
}

nb::object com(Any robot, Any q, Any out) {
    Door door(robot);
    need_mass(door.robot());
    door.configuration("q", q);
    door.output({3});
    return door.run(kernels().com, out);
}

nb::object com_jacobian(Any robot, Any q, Any out) {
    Door door(robot);
    need_mass(door.robot());
    door.configuration("q", q);
    door.output({3, door.robot().model.nv});
    return door.run(kernels().com_jacobian, out);
}

nb::object rnea(Any robot, Any q, Any v, Any a, Any wrenches, Any out) {
    Door door(robot);
    door.configuration("q", q);
    door.tangent("v", v);
    door.tangent("a", a);
    door.wrenches(wrenches);
    door.output({door.robot().model.nv});
    return door.run(kernels().rnea, out);
}

nb::object bias(Any robot, Any q, Any v, Any wrenches, Any out) {
    Door door(robot);
    door.configuration("q", q);
    door.tangent("v", v);
    door.wrenches(wrenches);
    door.output({door.robot().model.nv});
    return door.run(kernels().bias, out);
}

nb::object aba(Any robot, Any q, Any v, Any tau, Any wrenches, Any out) {
    Door door(robot);
    door.configuration("q", q);
    door.tangent("v", v);
    door.tangent("tau", tau);
    door.wrenches(wrenches);
    door.output({door.robot().model.nv});
    return door.run(kernels().aba, out);
}

nb::object gravity(Any robot, Any q, Any out) {
    Door door(robot);
    door.configuration("q", q);
    door.output({door.robot().model.nv});
    return door.run(kernels().gravity, out);
}

nb::object crba(Any robot, Any q, Any out) {
    Door door(robot);
    door.configuration("q", q);
    door.output({door.robot().model.nv, door.robot().model.nv});
    return door.run(kernels().crba, out);
}

nb::object coriolis_matrix(Any robot, Any q, Any v, Any out) {
    Door door(robot);
    door.configuration("q", q);
    door.tangent("v", v);
    door.output({door.robot().model.nv, door.robot().model.nv});
    return door.run(kernels().coriolis_matrix, out);
}

nb::object energy(Any robot, Any q, Any v) {
    Door door(robot);
    door.configuration("q", q);
    door.tangent("v", v);
    door.output({});
    door.output({});
    return door.run(kernels().energy, nb::none());
}

nb::object factorize(Any robot, Any q, Any out) {
    Door door(robot);
    door.configuration("q", q);
    door.output({door.robot().model.nv, door.robot().model.nv});
    return door.run(kernels().factorize, out);
}

nb::object solve(Any robot, Any factor, Any b, Any out) {
    Door door(robot);
    const int nv = door.robot().model.nv;
    door.input("factor", factor, nv * nv);
    door.tangent("b", b);
    door.output({nv});
    return door.run(kernels().solve, out);
}

nb::object momentum_matrix(Any robot, Any q, Any out) {
    Door door(robot);
    need_mass(door.robot());
    door.configuration("q", q);
    door.output({6, door.robot().model.nv});
    return door.run(kernels().momentum_matrix, out);
}

nb::object momentum(Any robot, Any q, Any v, Any out) {
    Door door(robot);
    need_mass(door.robot());
    door.configuration("q", q);
    door.tangent("v", v);
    door.output({6});
    return door.run(kernels().momentum, out);
}

nb::object momentum_rate(Any robot, Any q, Any v, Any a, Any out) {
    Door door(robot);
    need_mass(door.robot());
    door.configuration("q", q);
    door.tangent("v", v);
    door.tangent("a", a);
    door.output({6});
    return door.run(kernels().momentum_rate, out);
}

nb::object rnea_derivatives(Any robot, Any q, Any v, Any a, Any out) {
    Door door(robot);
    const int nv = door.robot().model.nv;
    door.configuration("q", q);
    door.tangent("v", v);
    door.tangent("a", a);
    for (int k = 0; k < 3; ++k) door.output({nv, nv});
    return door.run(kernels().rnea_derivatives, out);
}

nb::object aba_derivatives(Any robot, Any q, Any v, Any tau, Any out) {
    Door door(robot);
    const int nv = door.robot().model.nv;
    door.configuration("q", q);
    door.tangent("v", v);
    door.tangent("tau", tau);
    for (int k = 0; k < 3; ++k) door.output({nv, nv});
    return door.run(kernels().aba_derivatives, out);
}

nb::object regressor(Any robot, Any q, Any v, Any a, Any out) {
    Door door(robot);
    const auto& bodies = door.robot().parameter_bodies;
    door.call().list = bodies.data();
    door.call().n_list = static_cast<int>(bodies.size());
    door.configuration("q", q);
    door.tangent("v", v);
    door.tangent("a", a);
    door.output({door.robot().model.nv, 10 * static_cast<long>(bodies.size())});
    return door.run(kernels().regressor, out);
}

// Fills a State's arrays, in the order of the kernel.
nb::object state(Any robot, Any q, Any v, Any out) {
    Door door(robot);
    const Model& m = door.robot().model;
    door.configuration("q", q);
    door.tangent("v", v);
    door.output({static_cast<long>(m.frames.size()), 4, 4});
    door.output({6L * m.ncolumns + 3});
    door.output({m.nv, m.nv});
    door.output({m.nv});
    door.output({3});
    door.output({3, m.nv});
    door.output({3});
    door.output({6, m.nv});
    door.output({6});
    door.output({6});
    return door.run(kernels().state, out);
}

nb::object state_jacobian(Any robot, Any columns, Any poses, Any frame, Any reference, Any out) {
    Door door(robot);
    const Model& m = door.robot().model;
    const int index = frame_from(door.robot(), frame);
    door.along(index);
    door.call().mode = reference_from(reference);
    door.input("columns", columns, 6 * m.ncolumns + 3);
    door.input("poses", poses, 16);
    door.output({6, m.nv});
    return door.run(kernels().state_jacobian, out);
}

nb::object integrate(Any robot, Any q, Any v, Any out) {
    Door door(robot);
    door.configuration("q", q);
    door.tangent("v", v);
    door.output({door.robot().model.nq});
    return door.run(kernels().integrate, out);
}

nb::object difference(Any robot, Any q0, Any q1, Any out) {
    Door door(robot);
    door.configuration("q0", q0);
    door.configuration("q1", q1);
    door.output({door.robot().model.nv});
    return door.run(kernels().difference, out);
}

nb::object interpolate(Any robot, Any q0, Any q1, Any s, Any out) {
    Door door(robot);
    door.configuration("q0", q0);
    door.configuration("q1", q1);
    door.scalar("s", s);
    door.output({door.robot().model.nq});
    return door.run(kernels().interpolate, out);
}

// stops: (4 n,); plan: their number, that of joints with friction, and their places, as bytes.
nb::object integrate_dynamics(Any robot, Any q, Any v, Any tau, Any settings, Any friction, Any stops, Any plan,
                              int steps, bool runge_kutta, Any wrenches, Any out) {
    Door door(robot);
    const Model& m = door.robot().model;
    if (steps < 1 || steps > (1 << 29)) raise_input_error("steps must be from 1 to 2^29, got " + std::to_string(steps));
    door.configuration("q", q);
    door.tangent("v", v);
    door.tangent("tau", tau);
    door.input("settings", settings, 3);
    door.input("friction", friction, -1);
    door.input("stops", stops, -1);
    door.wrenches_and_plan(wrenches, plan);
    door.call().mode = 2 * steps + (runge_kutta ? 1 : 0);
    door.output({m.nq});
    door.output({m.nv});
    door.output({2});
    return door.run(kernels().integrate_dynamics, out);
}

int frame_index(Any robot, Any frame) { return frame_from(robot_from(robot), frame); }

void choose_threads(int count) {
    if (count < 1 || count > 1024) raise_input_error("threads must be from 1 to 1024, got " + std::to_string(count));
    set_threads(count);
}

// A setting that cannot be followed is an error, not something to pass over.
void refuse_unknown_settings() {
    const char* isa = std::getenv("KINODYN_ISA");
    if (isa && std::string(kernels().name) != isa) {
        std::string known;
        for (const std::string& name : instruction_sets()) known += (known.empty() ? "" : ", ") + name;
        throw nb::import_error(
            ("KINODYN_ISA is '" + std::string(isa) + "', but this processor runs: " + known).c_str());
    }
    const char* count = std::getenv("KINODYN_THREADS");
    if (count && std::to_string(threads()) != count)
        throw nb::import_error(
            ("KINODYN_THREADS is '" + std::string(count) + "'; a whole number from 1 on is needed").c_str());
}

// Defines a function whose arguments may all be None: the door says what is wrong with them better than a type error.
template <class Result, class... Arguments>
void define(nb::module_& m, const char* name, Result (*function)(Arguments...)) {
    m.def(name, function, (static_cast<void>(sizeof(Arguments)), nb::arg().none())...);
}

}  // namespace

NB_MODULE(_core, m) {
    import_numpy();
    refuse_unknown_settings();
    nb::set_leak_warnings(false);  // robots kept in module globals are no leak
    bind_layouts(m);
    bind_robot(m);
    bind_tasks(m);
    define(m, "pose", &pose);
    define(m, "poses", &poses);
    define(m, "jacobian", &jacobian);
    define(m, "jacobian_dot", &jacobian_dot);
    define(m, "velocity", &velocity);
    define(m, "acceleration", &acceleration);
    define(m, "com", &com);
    define(m, "com_jacobian", &com_jacobian);
    define(m, "rnea", &rnea);
    define(m, "bias", &bias);
    define(m, "aba", &aba);
    define(m, "gravity", &gravity);
    define(m, "crba", &crba);
    define(m, "coriolis_matrix", &coriolis_matrix);
    define(m, "energy", &energy);
    define(m, "factorize", &factorize);
    define(m, "solve", &solve);
    define(m, "momentum_matrix", &momentum_matrix);
    define(m, "momentum", &momentum);
    define(m, "momentum_rate", &momentum_rate);
    define(m, "rnea_derivatives", &rnea_derivatives);
    define(m, "aba_derivatives", &aba_derivatives);
    define(m, "regressor", &regressor);
    define(m, "state", &state);
    define(m, "state_jacobian", &state_jacobian);
    define(m, "integrate", &integrate);
    define(m, "difference", &difference);
    define(m, "interpolate", &interpolate);
    define(m, "integrate_dynamics", &integrate_dynamics);
    bind_contact(m);
    bind_ik(m);
    bind_whole_body(m);
    bind_id_qp(m);
    bind_control(m);
    bind_qp(m);
    define(m, "frame_index", &frame_index);
    m.def("threads", &threads);
    m.def("set_threads", &choose_threads);
    m.def("instruction_set", [] { return std::string(kernels().name); });
    m.def("lanes", [] { return kernels().lanes; });
    m.def("instruction_sets", &instruction_sets);
    m.def("use_instruction_set", &use_instruction_set);
}
