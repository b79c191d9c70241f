// Arguments and results of one kernel call: converts and checks NumPy arrays once, broadcasts batch axes, allocates or
// checks outputs, and runs the kernel.
#pragma once

#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "bindings/layouts.hpp"
#include "bindings/lookups.hpp"
#include "bindings/results.hpp"
#include "bindings/robot.hpp"
#include "core/dispatch.hpp"

namespace kinodyn {

void import_numpy();

// A list of indices with inline storage for short lists, which avoids an allocation in calls for a single state.
class IndexBuffer {
  public:
    IndexBuffer() = default;
    IndexBuffer(const IndexBuffer&) = delete;
    IndexBuffer& operator=(const IndexBuffer&) = delete;

    void resize(int n) {
        if (n > capacity) heap_.resize(static_cast<std::size_t>(n));
        data_ = n > capacity ? heap_.data() : local_;
        size_ = n;
    }
    int* data() { return data_; }
    int size() const { return size_; }
    int& operator[](int i) { return data_[i]; }
    IndexList list() const { return {data_, size_}; }

  private:
    static constexpr int capacity = 64;
    int local_[capacity];
    int* data_ = local_;
    int size_ = 0;
    std::vector<int> heap_;
};

// The numbers that a kernel reads and writes.
enum class Precision { Float64, Float32 };
inline const char* name_of(Precision p) { return p == Precision::Float64 ? "float64" : "float32"; }

class Args {
  public:
    explicit Args(nanobind::handle robot, Precision precision = Precision::Float64);
    ~Args();
    Args(const Args&) = delete;
    Args& operator=(const Args&) = delete;

    const CompiledRobot& robot() const { return robot_; }
    const Model& model() const { return robot_.model; }
    const Call& call() const { return call_; }

    // An argument of shape (..., size); -1 accepts any size.
    void input(const char* name, nanobind::handle value, int size, Check check = Check::Finite);
    void configuration(const char* name, nanobind::handle value) {
        input(name, value, robot_.model.nq, Check::Configuration);
    }
    void tangent(const char* name, nanobind::handle value) { input(name, value, robot_.model.nv); }
    // An argument of shape (..., rows, columns).
    void matrix(const char* name, nanobind::handle value, int rows, int columns);
    // An argument of shape (...).
    void scalar(const char* name, nanobind::handle value);
    // An argument of shape (..., size) with the fields of `count` records of doubles.
    template <class Record>
    void records(const char* name, nanobind::handle value, int count = 1) {
        input(name, value, count * static_cast<int>(sizeof(Record) / sizeof(double)));
    }
    // A dict of frame -> wrench, or None: the last inputs.
    void wrenches(nanobind::handle value);

    // A result of shape (..., tail); where there are several, either all have names or none has.
    void output(std::initializer_list<long> tail) { output(nullptr, tail); }
    void output(const char* name, std::initializer_list<long> tail);

    // The frame, and the bodies on the path from the root to it.
    void path_to(nanobind::handle frame);
    // These frames, and the bodies on the paths to them.
    void frames(nanobind::handle names);
    // All frames and bodies.
    void all_frames();
    void bodies(const std::vector<int>& indices) { call_.bodies = {indices.data(), static_cast<int>(indices.size())}; }
    // The v indices to solve for, ascending: an int32 array with all or none of those of each body chosen before.
    void dofs(nanobind::handle indices);

    // Settings that are the same for all states: a structure defined by the kernel.
    template <class Settings>
    void settings(const Settings& value) {
        static_assert(std::is_trivially_copyable_v<Settings> && sizeof(Settings) <= sizeof settings_);
        call_.settings = std::memcpy(settings_, &value, sizeof value);
    }
    // Memory that lives as long as the call.
    template <class Record>
    Record* allocate(std::size_t count) {
        memory_.emplace_back(new double[(count * sizeof(Record) + sizeof(double) - 1) / sizeof(double)]);
        return reinterpret_cast<Record*>(memory_.back().get());
    }

    // Runs and returns the result, or a tuple of results if there are several, with their names if they have any. `out`
    // is None or an array, or a tuple of arrays.
    nanobind::object run(Kernel kernel, nanobind::handle out, ResultType& type);

  private:
    int number_type() const;  // of NumPy
    int add_input(const char* name, nanobind::handle value);
    int batch_axes(int k) const;  // of input k
    struct Shape {
        int ndim = 0;
        long dims[34];  // batch axes and the last ones
    };
    void path_to_index(int frame);
    void use(std::shared_ptr<const FrameSelection> selection);
    void broadcast();
    void make_outputs(nanobind::handle out);
    Fault run_kernel(Kernel kernel) const;
    PyObject* checked_output(PyObject* given, const Shape& shape) const;
    void copy_inputs_under(PyObject* output);
    std::string index_text(long state, const Input* input, int element) const;
    [[noreturn]] void raise(const Fault& fault) const;

    const CompiledRobot& robot_;
    const Precision precision_;
    Call call_;
    PyObject* inputs_[Call::max_inputs];  // owned arrays
    const char* names_[Call::max_inputs];
    int tail_axes_[Call::max_inputs];  // 2 for matrices, 1 for vectors, 0 for scalars
    std::vector<std::string> wrench_names_;
    Shape tails_[Call::max_outputs];
    PyObject* outputs_[Call::max_outputs];  // owned arrays
    const char* output_names_[Call::max_outputs];
    Shape batch_;
    std::shared_ptr<const FrameSelection> selection_;
    IndexBuffer bodies_, frames_, dofs_, dof_index_, wrench_frames_;
    alignas(8) char settings_[64];
    std::vector<std::unique_ptr<double[]>> memory_;
};

}  // namespace kinodyn
