// Motion planning problems as Python objects, and searches for their solutions.
#include <nanobind/ndarray.h>

#include "bindings/define.hpp"
#include "bindings/functions.hpp"
#include "bindings/run_problem.hpp"
#include "planning/problem.hpp"

namespace nb = nanobind;

namespace kinodyn {

namespace {

void make_problem(PlanningProblem* self, const CollisionQuery& query, nb::handle settings, std::uint64_t seed,
                  const Numbers& lower, const Numbers& upper, const Numbers& start, const Rows& goals) {
    const std::size_t n = query.moving_dofs.size();
    require(n > 0 && n <= max_planned_dofs, "from 1 to 128 moving joints with one coordinate are needed");
    require(lower.shape(0) == n && upper.shape(0) == n && start.shape(0) == n && goals.shape(1) == n,
            "bounds, start and goals need a number for each moving joint");
    new (self) PlanningProblem(query, record_from<PlannerSettings>("settings", settings), seed);
    self->lower.assign(lower.data(), lower.data() + n);
    self->upper.assign(upper.data(), upper.data() + n);
    self->set_ends(start.data(), goals.data(), static_cast<int>(goals.shape(0)));
}

nb::object path_of(const PlanningProblem& problem) {
    const auto columns = static_cast<std::size_t>(problem.dim);
    return as_array(problem.path, {problem.path.size() / columns, columns});
}

void set_path(PlanningProblem& problem, const Rows& path) {
    require(path.shape(1) == static_cast<std::size_t>(problem.dim), "a path has a column for each moving joint");
    problem.path.assign(path.data(), path.data() + path.size());
}

}  // namespace

void bind_planning(nb::module_& m) {
    export_layouts<PlannerSettings>();
    nb::class_<PlanningProblem>(m, "PlanningProblem")
        .def("__init__", &make_problem, nb::keep_alive<1, 2>())
        .def("set_path", &set_path)
        .def_prop_ro("path", &path_of)
        .def_rw("length_bound", &PlanningProblem::length_bound)
        .def_rw("max_iterations", &PlanningProblem::max_iterations)
        .def_rw("max_edge_checks", &PlanningProblem::max_edge_checks)
        .def_rw("continuous", &PlanningProblem::continuous)
        .def_rw("local_fraction", &PlanningProblem::local_fraction)
        .def_ro("iterations", &PlanningProblem::iterations)
        .def_ro("edge_checks", &PlanningProblem::edge_checks)
        .def_ro("checked_packs", &PlanningProblem::checked_packs);
    m.def("rrt_connect", [kernel = KernelHandle("rrt_connect")](PlanningProblem& p, double seconds) {
        run_search(kernel, p, seconds);
        return p.solved;
    });
    m.def("shorten_path", [kernel = KernelHandle("shorten_path")](PlanningProblem& p, double seconds) {
        run_search(kernel, p, seconds);
        return p.blocked_edge;
    });
    m.def("path_blocked", [kernel = KernelHandle("path_blocked")](PlanningProblem& p, double seconds) {
        run_search(kernel, p, seconds);
        return p.blocked_edge;
    });
}

}  // namespace kinodyn
