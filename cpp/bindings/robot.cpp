#include "bindings/robot.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <cstring>

namespace nb = nanobind;

namespace kinodyn {

namespace {

using Table = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Integers = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Columns of the tables that robot.py lays out.
constexpr std::size_t body_integers = 4;  // kind, parent, iq, iv
constexpr std::size_t body_numbers = 36;  // scale, offset, R 9, p 3, axis 3, mass, h 3, I 6, R_link 9
constexpr std::size_t frame_numbers = 12;

bool is_identity(const double* R) {
    const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    for (int i = 0; i < 9; ++i)
        if (R[i] != identity[i]) return false;
    return true;
}

Body make_body(const std::int64_t* n, const double* x) {
    Body b{};
    b.kind = static_cast<Kind>(n[0]);
    b.parent = static_cast<int>(n[1]);
    b.iq = static_cast<int>(n[2]);
    b.iv = static_cast<int>(n[3]);
    b.scale = x[0];
    b.offset = x[1];
    std::memcpy(b.R, x + 2, sizeof b.R);
    std::memcpy(b.p, x + 11, sizeof b.p);
    std::memcpy(b.axis, x + 14, sizeof b.axis);
    b.mass = x[17];
    std::memcpy(b.h, x + 18, sizeof b.h);
    std::memcpy(b.I, x + 21, sizeof b.I);
    std::memcpy(b.R_link, x + 27, sizeof b.R_link);
    b.aligned = is_identity(b.R);
    return b;
}

// Columns in body order, and for each degree of freedom the one before it on the way to the root.
void index_columns(Model& m) {
    m.dof_parent.assign(m.nv, -1);
    for (std::size_t i = 0; i < m.bodies.size(); ++i) {
        Body& b = m.bodies[i];
        b.column = m.ncolumns;
        const int n = dofs(b.kind);
        int before = -1;
        if (b.parent >= 0) {
            const Body& parent = m.bodies[b.parent];
            before = parent.iv + dofs(parent.kind) - 1;
        }
        for (int k = 0; k < n; ++k) {
            m.column_iv.push_back(b.iv + k);
            m.column_body.push_back(static_cast<int>(i));
            m.dof_parent[b.iv + k] = k ? b.iv + k - 1 : before;
        }
        m.ncolumns += n;
        if (b.kind == Kind::Free) m.quaternions.push_back(b.iq + 3);
        if (b.kind == Kind::Ball) m.quaternions.push_back(b.iq);
        m.total_mass += b.mass;
    }
    if (m.total_mass > 0) m.inverse_mass = 1 / m.total_mass;
    m.mimic = m.ncolumns != m.nv;
    if (m.mimic)  // coordinates shared between branches fill the factor: treat it as dense
        for (int k = 0; k < m.nv; ++k) m.dof_parent[k] = k - 1;
    m.dof_end.resize(m.nv);
    for (int k = m.nv - 1; k >= 0; --k) {  // children have set theirs already
        if (m.dof_end[k] < k + 1) m.dof_end[k] = k + 1;
        const int parent = m.dof_parent[k];
        if (parent >= 0 && m.dof_end[parent] < m.dof_end[k]) m.dof_end[parent] = m.dof_end[k];
    }
}

// For each degree of freedom the mass of its subtree, or its moment of inertia with every arm stretched out (slides at
// zero): what the pivots of M are measured against.
void bound_inertia(Model& m) {
    struct Sums {
        double mass = 0, arm = 0, square = 0, own = 0;  // of m, m d, m d^2 and traces of inertia, d the distance
    };
    std::vector<Sums> sums(m.bodies.size());
    m.dof_scale.assign(m.nv, 0.0);
    for (int i = static_cast<int>(m.bodies.size()) - 1; i >= 0; --i) {
        const Body& b = m.bodies[i];
        Sums& s = sums[i];
        s.mass += b.mass;
        s.own += b.I[0] + b.I[2] + b.I[5];  // about the body's origin, so that its own distance is in it
        s.arm += std::sqrt(b.h[0] * b.h[0] + b.h[1] * b.h[1] + b.h[2] * b.h[2]);
        const double turning = s.own + 2 * s.square;
        for (int k = 0; k < dofs(b.kind); ++k) {
            const bool slides = b.kind == Kind::Prismatic || (b.kind == Kind::Free && k < 3);
            m.dof_scale[b.iv + k] += b.scale * b.scale * (slides ? s.mass : turning);
        }
        if (b.parent < 0) continue;
        const double d = std::sqrt(b.p[0] * b.p[0] + b.p[1] * b.p[1] + b.p[2] * b.p[2]);
        Sums& up = sums[b.parent];
        up.mass += s.mass;
        up.own += s.own;
        up.arm += s.arm + d * s.mass;
        up.square += s.square + 2 * d * s.arm + d * d * s.mass;
    }
}

void construct(CompiledRobot* self, int nq, int nv, const Integers& body_n, const Table& body_x,
               const std::vector<std::string>& frame_names, const Integers& frame_n, const Table& frame_x,
               const Numbers& armature, const Numbers& damping, const Numbers& gravity,
               const std::vector<std::string>& dof_joint, const std::vector<std::string>& dof_link,
               const std::vector<int>& parameter_bodies) {
    if (body_n.shape(1) != body_integers || body_x.shape(1) != body_numbers || frame_x.shape(1) != frame_numbers ||
        body_n.shape(0) != body_x.shape(0) || frame_n.shape(0) != frame_x.shape(0) ||
        frame_names.size() != frame_x.shape(0) || armature.shape(0) != static_cast<std::size_t>(nv) ||
        damping.shape(0) != static_cast<std::size_t>(nv) || gravity.shape(0) != 3)
        throw nb::value_error("tables of the wrong size");
    new (self) CompiledRobot;
    Model& m = self->model;
    m.nq = nq;
    m.nv = nv;
    for (std::size_t i = 0; i < body_n.shape(0); ++i) {
        const Body b = make_body(body_n.data() + i * body_integers, body_x.data() + i * body_numbers);
        if (b.parent >= static_cast<int>(i) || b.iq < 0 || b.iq + coordinates(b.kind) > nq || b.iv < 0 ||
            b.iv + dofs(b.kind) > nv)
            throw nb::value_error("a body's indices are out of range");
        m.bodies.push_back(b);
        self->all_bodies.push_back(static_cast<int>(i));
    }
    for (std::size_t i = 0; i < frame_names.size(); ++i) {
        FixedFrame f{};
        const double* x = frame_x.data() + i * frame_numbers;
        f.body = static_cast<int>(frame_n.data()[i]);
        if (f.body >= static_cast<int>(m.bodies.size())) throw nb::value_error("a frame's body is out of range");
        std::memcpy(f.R, x, sizeof f.R);
        std::memcpy(f.p, x + 9, sizeof f.p);
        f.aligned = is_identity(f.R);
        m.frames.push_back(f);
        self->all_frames.push_back(static_cast<int>(i));
        self->frame_index[frame_names[i].c_str()] = i;
    }
    m.armature.assign(armature.data(), armature.data() + nv);
    m.damping.assign(damping.data(), damping.data() + nv);
    std::memcpy(m.gravity, gravity.data(), sizeof m.gravity);
    self->dof_joint = dof_joint;
    self->dof_link = dof_link;
    self->parameter_bodies = parameter_bodies;
    index_columns(m);
    bound_inertia(m);
}

}  // namespace

void bind_robot(nb::module_& m) {
    nb::class_<CompiledRobot>(m, "CompiledRobot", nb::dynamic_attr())
        .def("__init__", &construct, nb::arg("nq"), nb::arg("nv"), nb::arg("body_integers"), nb::arg("body_numbers"),
             nb::arg("frame_names"), nb::arg("frame_bodies"), nb::arg("frame_numbers"), nb::arg("armature"),
             nb::arg("damping"), nb::arg("gravity"), nb::arg("dof_joints"), nb::arg("dof_links"),
             nb::arg("parameter_bodies"));
}

}  // namespace kinodyn
