// The kernel `task_rows` for one state, compiled for the target `example` and called by `test_extending.py` with the
// tables of a robot.
#include <cstdlib>

#include "core/complete_model.hpp"
#include "kernels/task_rows.cpp"

using namespace kinodyn;

char* kinodyn::thread_scratch(std::size_t bytes) {
    static char* memory = static_cast<char*>(std::aligned_alloc(64, 1 << 22));
    return bytes <= (1 << 22) ? memory : nullptr;
}

extern "C" int block_size() { return static_cast<int>(kinodyn::block_size<example::HeightFields>({1, 0, 0})); }

extern "C" void evaluate(const BodyRecord* bodies, const FrameRecord* frames, const double* q, const double* v,
                         const TaskEntry* entry, const double* numbers, double* out, int n_bodies, int n_frames, int nq,
                         int nv, int n_numbers, int output) {
    Model model;
    model.nq = nq, model.nv = nv;
    for (int i = 0; i < n_bodies; ++i) {
        model.bodies.emplace_back();
        static_cast<BodyRecord&>(model.bodies.back()) = bodies[i];
    }
    for (int i = 0; i < n_frames; ++i) {
        model.frames.emplace_back();
        static_cast<FrameRecord&>(model.frames.back()) = frames[i];
    }
    complete(model);
    const TaskRowsPlan plan = {entry, static_cast<TaskOutput>(output)};
    Call call;
    call.model = &model;
    call.settings = &plan;
    call.count = 1;
    call.n_in = 3, call.n_out = 1;
    call.in[0] = {q, 0, nq, Check::Finite};
    call.in[1] = {v, 0, nv, Check::Finite};
    call.in[2] = {numbers, 0, n_numbers, Check::Finite};
    call.out[0] = {out, plan.output == TaskOutput::Jacobian ? nv : 1};
    Fault fault;
    example::task_rows_kernels.entries[0].kernel(call, 0, 1, fault);
}
