// Constraints along paths and searches for such paths as Python objects.
#include <nanobind/ndarray.h>

#include "bindings/define.hpp"
#include "bindings/functions.hpp"
#include "bindings/run_problem.hpp"
#include "planning/constrained_problem.hpp"

namespace nb = nanobind;

namespace kinodyn {

namespace {

std::vector<double> values(const Numbers& a) { return {a.data(), a.data() + a.shape(0)}; }

void make_constraints(ConstraintTable* self, nb::handle robot, nb::handle constraints, const Flags& moves,
                      const Numbers& lower, const Numbers& upper) {
    const Model& model = robot_from(robot).model;
    const auto nq = static_cast<std::size_t>(model.nq);
    require(lower.shape(0) == nq && upper.shape(0) == nq, "the limits of q need nq numbers");
    require(moves.shape(0) == static_cast<std::size_t>(model.nv), "moves needs nv flags");
    const Table<PathConstraint> table("constraints", constraints);
    const int n_frames = static_cast<int>(model.frames.size());
    std::vector<PathConstraint> records;
    for (const PathConstraint& c : table) {
        require(c.frame >= -1 && c.frame < n_frames && c.reference >= -1 && c.reference < n_frames,
                "the frame of a constraint is unknown");
        if (c.kind == ConstraintKind::Com) require_mass(robot_from(robot));
        records.push_back(c);
    }
    new (self) ConstraintTable(model, std::move(records), {moves.data(), moves.data() + moves.shape(0)}, values(lower),
                               values(upper));
}

void make_problem(ConstrainedProblem* self, const CollisionQuery& query, const ConstraintTable& table,
                  nb::handle settings, std::uint64_t seed, const Numbers& lower, const Numbers& upper,
                  const Numbers& start, const Rows& goals, bool samples_manifold) {
    const std::size_t n = table.dofs.size(), nq = static_cast<std::size_t>(table.model.nq);
    require(&query.robot() == &table.model, "query and constraints are of different robots");
    const int dim = ConstrainedProblem::dimension(table, samples_manifold);
    require(dim > 0 && dim <= max_planned_dofs, "from 1 to 128 coordinates that move are needed");
    require(query.moving_dofs.size() == n, "query and constraints have different joints that move");
    require(lower.shape(0) == n && upper.shape(0) == n, "bounds need a number for each moving joint");
    require(start.shape(0) == nq && goals.shape(1) == nq, "start and goals need nq numbers");
    new (self) ConstrainedProblem(query, table, record_from<ConstrainedSettings>("settings", settings), seed,
                                  samples_manifold);
    self->lower = values(lower);
    self->upper = values(upper);
    self->set_start(start.data());
    self->add_goals(goals.data(), static_cast<int>(goals.shape(0)));
}

void add_goals(ConstrainedProblem& self, const Rows& goals) {
    require(goals.shape(1) == static_cast<std::size_t>(self.nq), "goals need nq numbers");
    self.add_goals(goals.data(), static_cast<int>(goals.shape(0)));
}

void end_after(ConstrainedProblem& self, double seconds) { self.deadline = steady_time() + seconds; }

nb::object path_of(const ConstrainedProblem& problem) {
    const auto nq = static_cast<std::size_t>(problem.nq);
    return as_array(problem.path, {problem.path.size() / nq, nq});
}

}  // namespace

void bind_constrained_planning(nb::module_& m) {
    export_layouts<PathConstraint, ConstrainedSettings>();
    nb::class_<ConstraintTable>(m, "ConstraintTable").def("__init__", &make_constraints, nb::keep_alive<1, 2>());
    nb::class_<ConstrainedProblem>(m, "ConstrainedProblem")
        .def("__init__", &make_problem, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
        .def("add_goals", &add_goals)
        .def("end_after", &end_after)
        .def_prop_ro("path", &path_of)
        .def_rw("max_iterations", &ConstrainedProblem::max_iterations)
        .def_ro("iterations", &ConstrainedProblem::iterations)
        .def_ro("steps", &ConstrainedProblem::steps);
    m.def("constrained_rrt", [kernel = KernelHandle("constrained_rrt")](ConstrainedProblem& p, double seconds) {
        run_search(kernel, p, seconds);
        return p.solved;
    });
    m.def("shorten_constrained", [kernel = KernelHandle("shorten_constrained")](ConstrainedProblem& p, double seconds) {
        run_search(kernel, p, seconds);
    });
    define(m, "project_onto_path_constraints", [](Args& args, Any table, Any q, Any iterations) {
        args.settings(nb::cast<const ConstraintTable*>(table));
        args.configuration("q", q);
        args.scalar("iterations", iterations);
        args.output("q", {args.model().nq});
        args.output("success", {});
    });
    define(m, "constraint_excess", [](Args& args, Any table, Any q) {
        const auto* given = nb::cast<const ConstraintTable*>(table);
        args.settings(given);
        args.configuration("q", q);
        args.output({static_cast<long>(given->constraints.size()), 2});
    });
}

}  // namespace kinodyn
