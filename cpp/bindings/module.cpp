// The module kinodyn._core. Arguments are positional; the Python side names and documents them (_core.pyi).
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <cstdlib>

#include "bindings/args.hpp"
#include "bindings/functions.hpp"
#include "core/fork.hpp"
#include "core/interrupts.hpp"
#include "core/pool.hpp"

namespace nb = nanobind;
using namespace kinodyn;

namespace {

std::vector<std::string> instruction_set_names() {
    std::vector<std::string> names;
    for (const InstructionSet* set : instruction_sets()) names.emplace_back(set->name);
    return names;
}

// Instruction set -> its kernels, in alphabetical order.
std::map<std::string, std::vector<std::string>> all_kernels() {
    std::map<std::string, std::vector<std::string>> all;
    for (const InstructionSet* set : instruction_sets()) all[set->name] = kernel_names(*set);
    return all;
}

int frame_index(nb::handle robot, nb::handle frame) { return frame_from(robot_from(robot), frame); }

void choose_threads(int count) {
    if (count < 1 || count > max_threads)
        raise_input_error("threads must be from 1 to " + std::to_string(max_threads) + ", got " +
                          std::to_string(count));
    set_threads(count);
}

// An invalid setting is an error and is not ignored.
void refuse_unknown_settings() {
    const char* isa = std::getenv("KINODYN_ISA");
    if (isa && std::string(instruction_set().name) != isa) {
        std::string known;
        for (const std::string& name : instruction_set_names()) known += (known.empty() ? "" : ", ") + name;
        throw nb::import_error(
            ("KINODYN_ISA is '" + std::string(isa) + "', but this processor runs: " + known).c_str());
    }
    const char* count = std::getenv("KINODYN_THREADS");
    if (count && std::to_string(threads()) != count)
        throw nb::import_error(("KINODYN_THREADS is '" + std::string(count) + "'; a whole number from 1 to " +
                                std::to_string(max_threads) + " is needed")
                                   .c_str());
}

// Has a signal handler raised an exception? Python runs handlers in the main thread only; others need not wait for the
// GIL to find out.
std::atomic<unsigned long> main_thread{0};

bool signal_raised() {
    if (PyThread_get_thread_ident() != main_thread.load()) return false;
    const nb::gil_scoped_acquire acquired;
    return PyErr_CheckSignals() != 0;
}

void handle_signals() {
    main_thread = nb::cast<unsigned long>(nb::module_::import_("threading").attr("main_thread")().attr("ident"));
    // in a child process the thread that has forked is the main one
    call_in_forked_child([] { main_thread = PyThread_get_thread_ident(); });
    set_signal_check(&signal_raised);
    nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
        try {
            std::rethrow_exception(thrown);
        } catch (const Interrupted&) {  // in the main thread the signal handler has set the exception
            if (!PyErr_Occurred()) PyErr_SetNone(PyExc_KeyboardInterrupt);
        }
    });
}

// Ends native calls in threads that a Python function has started, as the main thread cannot.
struct Cancellation {
    std::atomic<bool> ended{false};

    nb::object call(const nb::callable& function, const nb::args& arguments) const {
        const WatchedFlag until_ended(ended);
        return function(*arguments);
    }
};

void bind_cancellation(nb::module_& m) {
    nb::class_<Cancellation>(m, "Cancellation")
        .def(nb::init<>())
        .def("cancel", [](Cancellation& self) { self.ended.store(true); })
        .def("call", &Cancellation::call);
}

}  // namespace

NB_MODULE(_core, m) {
    import_numpy();
    refuse_unknown_settings();
    handle_signals();
    nb::set_leak_warnings(false);  // robots kept in module globals are not a leak
    bind_cancellation(m);
    bind_layouts(m);
    bind_robot(m);
    bind_tasks(m);
    bind_kinematics(m);
    bind_dynamics(m);
    bind_derivatives(m);
    bind_contact(m);
    bind_ik(m);
    bind_whole_body(m);
    bind_id_qp(m);
    bind_qp(m);
    bind_frame_control(m);
    bind_sphere_fit(m);
    bind_obstacles(m);
    bind_collision(m);
    bind_planning(m);
    bind_curves(m);
    bind_trajectory(m);
    bind_constrained_planning(m);
    bind_distance(m);
    bind_footsteps(m);
    bind_retarget(m);
    bind_text(m);
    m.def("frame_index", &frame_index, nb::arg().none(), nb::arg().none());
    m.def("threads", &threads);
    m.def("set_threads", &choose_threads);
    m.def("instruction_set", [] { return std::string(instruction_set().name); });
    m.def("lanes", [] { return instruction_set().lanes; });
    m.def("instruction_sets", &instruction_set_names);
    m.def("use_instruction_set", &use_instruction_set);
    m.def("kernels", &all_kernels);
}
