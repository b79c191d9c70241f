// Constraints, soft contacts, and impulses of hard contacts.
#include "kernels/contact.hpp"

#include "bindings/define.hpp"
#include "bindings/functions.hpp"
#include "kernels/hard_contacts.hpp"

namespace nb = nanobind;

namespace kinodyn {

namespace {

std::size_t length_of(Any list) {
    const Py_ssize_t n = PyObject_Length(list.ptr());
    if (n < 0) throw nb::python_error();
    return static_cast<std::size_t>(n);
}

// tables: arrays of constraints, one after another; poses: (..., 24) of each constraint.
ConstraintList add_constraints(Args& args, Any tables, Any poses) {
    auto* const records = args.allocate<ConstraintRecord>(length_of(poses));
    ConstraintList list = {records, 0, 0, args.call().n_in};
    const int count = static_cast<int>(length_of(poses));
    for (const Any& item : tables)
        for (const ConstraintRecord& record : Table<ConstraintRecord>("constraints", item)) {
            if (list.count == count) throw nb::value_error("there are more constraints than poses");
            records[list.count++] = record;
            list.rows += record.rows();
        }
    if (list.count < count) throw nb::value_error("there are more poses than constraints");
    for (const Any& pose : poses) args.records<ConstraintPoses<double>>("contacts", pose);
    args.settings(list);
    args.all_frames();
    return list;
}

void define_constraints(nb::module_& m) {
    define(m, "constrained",
           [](Args& args, Any q, Any v, Any tau, Any gains, Any constraints, Any poses, Any wrenches) {
               args.configuration("q", q);
               args.tangent("v", v);
               args.tangent("tau", tau);
               args.input("stabilise", gains, 2);
               const int rows = add_constraints(args, constraints, poses).rows;
               args.wrenches(wrenches);
               args.output("a", {args.model().nv});
               args.output("force", {rows});
               args.output("rank", {});
               args.output("residual_share", {});
               args.output("residual", {rows});
           });
    // x, g: the result and the forces for the gradient with respect to a in place of tau - h, at rest
    define(m, "constrained_vjp",
           [](Args& args, Any q, Any v, Any a, Any x, Any forces, Any g, Any constraints, Any poses, Any wrenches) {
               args.configuration("q", q);
               args.tangent("v", v);
               args.tangent("a", a);
               args.tangent("x", x);
               args.input("forces", forces, -1);
               args.input("g", g, -1);
               const int rows = add_constraints(args, constraints, poses).rows;
               if (args.call().in[4].size != rows || args.call().in[5].size != rows)
                   raise_input_error("forces and g must have " + std::to_string(rows) + " numbers for each state");
               args.wrenches(wrenches);
               args.output("q", {args.model().nq});
               args.output("v", {args.model().nv});
               args.output("wrenches", {args.call().wrench_frames.size, 6});
           });
    define(m, "impact", [](Args& args, Any q, Any v, Any restitution, Any constraints, Any poses) {
        args.configuration("q", q);
        args.tangent("v", v);
        args.scalar("restitution", restitution);
        const int rows = add_constraints(args, constraints, poses).rows;
        args.output("v", {args.model().nv});
        args.output("impulse", {rows});
        args.output("rank", {});
        args.output("residual_share", {});
        args.output("residual", {rows});
    });
    define(m, "constraint_jacobian", [](Args& args, Any q, Any v, Any constraints, Any poses) {
        args.configuration("q", q);
        args.tangent("v", v);
        const int rows = add_constraints(args, constraints, poses).rows;
        args.output("J", {rows, args.model().nv});
        args.output("acceleration", {rows});
    });
    define(m, "constraint_error", [](Args& args, Any q, Any constraints, Any poses) {
        args.configuration("q", q);
        args.output({add_constraints(args, constraints, poses).rows});
    });
    define(m, "project",
           [](Args& args, Any q, Any tolerance, Any max_iterations, Any fixed, Any constraints, Any poses) {
               args.configuration("q", q);
               args.scalar("tolerance", tolerance);
               args.scalar("iterations", max_iterations);
               args.tangent("fixed", fixed);
               add_constraints(args, constraints, poses);
               args.output("q", {args.model().nq});
               args.output("error", {});
               args.output("iterations", {});
           });
}

void define_soft_contacts(nb::module_& m) {
    // points: (..., 3 n) in their frames, one name for each point
    define(m, "point_motion", [](Args& args, Any q, Any v, Any points, Any frames) {
        args.frames(frames);
        const int count = args.call().frames.size;
        args.configuration("q", q);
        args.tangent("v", v);
        args.input("points", points, 3 * count);
        for (const char* name : {"position", "velocity", "arm"}) args.output(name, {3 * count});
    });
    // points: which of `n_frames` frames carries each
    define(m, "soft_forces",
           [](Args& args, Any position, Any velocity, Any arm, Any height, Any normal, Any anchor, Any stiffness,
              Any damping, Any friction, Any owners, int n_frames, bool shared_normal) {
               const Table<SoftPointRecord> points("owners", owners);
               const int count = static_cast<int>(points.size());
               args.settings(SoftContactSettings{points.begin(), count, n_frames, shared_normal});
               args.input("positions", position, 3 * count);
               args.input("velocities", velocity, 3 * count);
               args.input("arms", arm, 3 * count);
               args.input("heights above the ground", height, count);
               args.input("normals of the ground", normal, shared_normal ? 3 : 3 * count);
               args.input("anchors", anchor, 3 * count);
               args.input("stiffness", stiffness, count);
               args.input("damping", damping, count);
               args.input("friction", friction, count);
               args.output("force", {count, 3});
               args.output("anchor", {count, 3});
               args.output("wrench", {n_frames, 6});
           });
}

// A: (..., 9 n^2); velocity, guess: (..., 3 n); min_velocity, friction: (..., n); tolerance: (...).
void define_hard_contacts(nb::module_& m) {
    define(m, "hard_contacts",
           [](Args& args, Any q, Any v, Any mass_matrix, Any inertia, Any force, Any owner, Any position, Any normal,
              Any height, Any friction, Any guess, Any frames, Any settings) {
               const int nv = args.model().nv;
               args.frames(frames);
               args.settings(record_from<HardContactSettings>("settings", settings));
               args.configuration("q", q);
               args.tangent("v", v);
               args.matrix("mass_matrix", mass_matrix, nv, nv);
               args.tangent("inertia", inertia);
               args.tangent("force", force);
               args.input("owner", owner, -1);
               const int points = args.call().in[args.call().n_in - 1].size;
               args.matrix("position", position, points, 3);
               args.matrix("normal", normal, points, 3);
               args.input("height", height, points);
               args.input("friction", friction, points);
               args.matrix("guess", guess, points, 3);
               args.output("impulse", {points, 3});
               args.output("wrench", {args.call().frames.size, 6});
               args.output("change", {});
           });
}

}  // namespace

void bind_contact(nb::module_& m) {
    export_layouts<ConstraintRecord, ConstraintPoses<double>, SoftPointRecord, HardContactSettings>();
    define_constraints(m);
    define_soft_contacts(m);
    define_hard_contacts(m);
}

}  // namespace kinodyn
