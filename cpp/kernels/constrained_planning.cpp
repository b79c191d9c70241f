// Constraints along paths. `constrained_rrt` continues a search and `shorten_constrained` simplifies a path;
// `project_onto_path_constraints` moves configurations onto constraints and `constraint_excess` measures how far they
// are outside, in batches.

#include "planning/constrained_rrt.hpp"

namespace kinodyn::KINODYN_TARGET {

namespace {

template <class F>
void with_search(const Call& call, F&& f) {
    ConstrainedProblem& problem = *call.as<ConstrainedProblem*>();
    const long bytes = aligned(ConstrainedMotion::bytes(problem));
    char* memory = thread_scratch(static_cast<std::size_t>(bytes + 8 * ConstrainedRrt::words(problem)));
    ConstrainedMotion motion(problem, memory);
    ConstrainedRrt search(problem, motion, reinterpret_cast<double*>(memory + bytes));
    f(search);
}

void constrained_rrt(const Call& call, long, long, Fault&) {
    with_search(call, [](ConstrainedRrt& search) { search.run(); });
}

void shorten_constrained(const Call& call, long, long, Fault&) {
    with_search(call, [](ConstrainedRrt& search) { search.shorten(); });
}

// Calls f(projection, state) for each state.
template <class F>
void for_states(const Call& call, long begin, long end, Fault& fault, F&& f) {
    const ConstraintTable& table = *call.as<const ConstraintTable*>();
    const long words = Projection::words(table);
    double* memory = reinterpret_cast<double*>(thread_scratch(sizeof(double) * static_cast<std::size_t>(words)));
    Projection projection(table, memory);
    for (long state = begin; state < end; ++state) {
        if (find_fault(call, state, fault)) return;
        f(table, projection, state);
    }
}

// Inputs: q and the number of iterations. Outputs: q, and 1 if it is on the constraints, otherwise 0.
void project_onto_path_constraints(const Call& call, long begin, long end, Fault& fault) {
    for_states(call, begin, end, fault, [&](const ConstraintTable& table, Projection& projection, long state) {
        double* q = call.out[0].row(state);
        memcpy(q, call.in[0].row(state), sizeof(double) * static_cast<std::size_t>(table.model.nq));
        const double iterations = *call.in[1].row(state);
        *call.out[1].row(state) = projection.project(q, static_cast<int>(iterations)) ? 1.0 : 0.0;
    });
}

// Input: q. Output: (constraints, 2), distance [m] and angle [rad] outside of each.
void constraint_excess(const Call& call, long begin, long end, Fault& fault) {
    for_states(call, begin, end, fault, [&](const ConstraintTable& table, Projection& projection, long state) {
        double* out = call.out[0].row(state);
        projection.place(call.in[0].row(state));
        for (const PathConstraint& c : table.constraints) {
            const Projection::Excess e = projection.excess_of(c);
            *out++ = e.distance, *out++ = e.angle;
        }
    });
}

}  // namespace

constexpr KernelEntry entries[] = {{"constrained_rrt", constrained_rrt},
                                   {"shorten_constrained", shorten_constrained},
                                   {"project_onto_path_constraints", project_onto_path_constraints},
                                   {"constraint_excess", constraint_excess}};
extern const KernelList constrained_planning_kernels;
const KernelList constrained_planning_kernels = entries;

}  // namespace kinodyn::KINODYN_TARGET
