// The door from NumPy to the kernels: converts and checks arguments once, broadcasts, makes or checks outputs, runs.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "bindings/robot.hpp"
#include "core/kernels.hpp"

namespace kinodyn {

void import_numpy();

[[noreturn]] void raise_input_error(const std::string& message);

// The compiled robot behind a Python object; raises if it is something else.
const CompiledRobot& robot_from(nanobind::handle object);

// Index of a frame given by name or number.
int frame_from(const CompiledRobot& robot, nanobind::handle frame);

// 0 local_world_aligned, 1 local, 2 world
int reference_from(nanobind::handle text);

// A list of indices that needs no memory of its own while it is short, as most are: calls on one state are short too.
class Indices {
  public:
    Indices() = default;
    Indices(const Indices&) = delete;
    Indices& operator=(const Indices&) = delete;

    void resize(int n) {
        if (n > room) more_.resize(static_cast<std::size_t>(n));
        data_ = n > room ? more_.data() : few_;
        size_ = n;
    }
    int* data() { return data_; }
    int size() const { return size_; }
    int& operator[](int i) { return data_[i]; }

  private:
    static constexpr int room = 64;
    int few_[room];
    int* data_ = few_;
    int size_ = 0;
    std::vector<int> more_;
};

class Door {
  public:
    explicit Door(nanobind::handle robot);
    ~Door();
    Door(const Door&) = delete;
    Door& operator=(const Door&) = delete;

    const CompiledRobot& robot() const { return robot_; }
    Call& call() { return call_; }

    // An argument of shape (..., size); -1 takes any size.
    void input(const char* name, nanobind::handle value, int size, Check check = Check::Finite);
    void configuration(const char* name, nanobind::handle value) {
        input(name, value, robot_.model.nq, Check::Configuration);
    }
    void tangent(const char* name, nanobind::handle value) { input(name, value, robot_.model.nv); }
    // An argument of shape (..., rows, columns).
    void matrix(const char* name, nanobind::handle value, int rows, int columns);
    // An argument of shape (...).
    void scalar(const char* name, nanobind::handle value);
    // A dict of frame -> wrench, or None.
    void wrenches(nanobind::handle value);
    // A result of shape (..., tail).
    void output(std::initializer_list<long> tail);

    // The way from the root to a frame, as call().list; the frame itself as call().more.
    void along(int frame);
    // The bodies that carry these frames, and the frames.
    void towards(nanobind::handle frames);
    void everywhere();
    // Integers that only the kernel understands, as call().more.
    void plan(nanobind::handle integers);
    // Wrenches, and after their frames, in call().more, integers for the kernel.
    void wrenches_and_plan(nanobind::handle wrenches, nanobind::handle integers);
    // The v indices that move the bodies on the list, as call().dofs.
    void solve_for_bodies();

    // Runs and returns the result, or a tuple of results if there are several. `out` is None or the like of it.
    nanobind::object run(Kernel kernel, nanobind::handle out);

  private:
    int add_input(const char* name, nanobind::handle value);
    int lead(int k) const;  // number of batch axes of input k
    struct Shape {
        int ndim = 0;
        long dims[34];  // batch axes and the last ones
    };
    void use_lists();
    void append_plan(nanobind::handle integers);
    void broadcast();
    void make_outputs(nanobind::handle out);
    PyObject* checked_output(PyObject* given, const Shape& shape) const;
    void copy_inputs_under(PyObject* output);
    std::string index_text(long state, const Input* input, int element) const;
    [[noreturn]] void raise(const Fault& fault) const;

    const CompiledRobot& robot_;
    Call call_;
    PyObject* inputs_[Call::max_inputs];  // owned arrays
    const char* names_[Call::max_inputs];
    int tail_axes_[Call::max_inputs];  // 2 for matrices, 1 for vectors, 0 for scalars
    std::vector<std::string> own_names_;
    Shape tails_[Call::max_outputs];
    PyObject* outputs_[Call::max_outputs];  // owned arrays
    Shape batch_;
    Indices bodies_, frames_, dofs_;
};

}  // namespace kinodyn
