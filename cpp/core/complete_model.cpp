#include "core/complete_model.hpp"

#include <cmath>

namespace kinodyn {

namespace {

bool is_identity(const double* R) {
    const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    for (int i = 0; i < 9; ++i)
        if (R[i] != identity[i]) return false;
    return true;
}

// Columns in body order, and for each degree of freedom its parent towards the root.
void index_columns(Model& m) {
    m.dof_parent.assign(m.nv, -1);
    for (std::size_t i = 0; i < m.bodies.size(); ++i) {
        Body& b = m.bodies[i];
        b.column = m.ncolumns;
        const int n = dofs(b.kind);
        int before = -1, column_before = -1;
        if (b.parent >= 0) {
            const Body& parent = m.bodies[b.parent];
            before = parent.iv + dofs(parent.kind) - 1;
            column_before = parent.column + dofs(parent.kind) - 1;
        }
        for (int k = 0; k < n; ++k) {
            m.column_iv.push_back(b.iv + k);
            m.column_body.push_back(static_cast<int>(i));
            m.column_parent.push_back(k ? b.column + k - 1 : column_before);
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

// For each degree of freedom an upper bound of the mass of its subtree, or of its moment of inertia with every arm
// stretched out and prismatic joints at zero: the scale of the pivots of M.
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

template <std::size_t n>
void round_to(const double (&from)[n], float (&to)[n]) {
    for (std::size_t i = 0; i < n; ++i) to[i] = static_cast<float>(from[i]);
}

BodyOf<float> rounded(const Body& b) {
    BodyOf<float> r{};
    static_cast<BodyDerived&>(r) = b;
    r.kind = b.kind, r.parent = b.parent, r.iq = b.iq, r.iv = b.iv;
    r.scale = static_cast<float>(b.scale), r.offset = static_cast<float>(b.offset);
    r.mass = static_cast<float>(b.mass);
    round_to(b.R, r.R), round_to(b.p, r.p), round_to(b.axis, r.axis);
    round_to(b.h, r.h), round_to(b.I, r.I), round_to(b.R_link, r.R_link);
    return r;
}

FixedFrameOf<float> rounded(const FixedFrame& f) {
    FixedFrameOf<float> r{};
    round_to(f.R, r.R), round_to(f.p, r.p);
    r.body = f.body, r.aligned = f.aligned;
    return r;
}

}  // namespace

void complete(Model& m) {
    for (Body& body : m.bodies) body.aligned = is_identity(body.R);
    for (FixedFrame& frame : m.frames) frame.aligned = is_identity(frame.R);
    index_columns(m);
    bound_inertia(m);
}

ModelOf<float> rounded(const Model& m) {
    ModelOf<float> r;
    r.nq = m.nq, r.nv = m.nv, r.ncolumns = m.ncolumns, r.mimic = m.mimic;
    r.total_mass = static_cast<float>(m.total_mass), r.inverse_mass = static_cast<float>(m.inverse_mass);
    round_to(m.gravity, r.gravity);
    for (const Body& body : m.bodies) r.bodies.push_back(rounded(body));
    for (const FixedFrame& frame : m.frames) r.frames.push_back(rounded(frame));
    r.armature.assign(m.armature.begin(), m.armature.end());
    r.damping.assign(m.damping.begin(), m.damping.end());
    r.dof_scale.assign(m.dof_scale.begin(), m.dof_scale.end());
    r.quaternions = m.quaternions, r.column_iv = m.column_iv, r.column_body = m.column_body;
    r.column_parent = m.column_parent;
    r.dof_parent = m.dof_parent, r.dof_end = m.dof_end;
    return r;
}

}  // namespace kinodyn
