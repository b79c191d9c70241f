// Frames of a robot at one configuration: their poses, and the Jacobian columns that move them.
#pragma once

#include "kernels/momentum.hpp"
#include "solver/dense.hpp"

namespace kinodyn::KINODYN_TARGET {

class Frames {
  public:
    using V = Vec3<double>;

    Frames(const Model& model, const World<double>& world) : model_(model), world_(world) {}

    // From the common point; frame -1 is the world. `offset` is a point of the frame, or null.
    Placement<double> place(int frame, const double* offset) const {
        if (frame < 0) return {kinodyn::KINODYN_TARGET::world<double>().R, V{0, 0, 0} - world_.origin};
        Placement<double> f = place_frame(model_.frames[frame], world_.at);
        if (model_.frames[frame].body < 0) f.p -= world_.origin;
        if (offset) f.p += f.R * vec(offset);
        return f;
    }

    // Calls f(v index, twist at `p`) for each column that moves the frame but not the frame `other`.
    template <class F>
    void for_columns(int frame, int other, const V& p, F&& f) const {
        const int common = common_ancestor(body_of(frame), body_of(other));
        for (int b = body_of(frame); b != common; b = model_.bodies[b].parent) {
            const Body& body = model_.bodies[b];
            for (int c = body.column; c < body.column + dofs(body.kind); ++c) {
                const Spatial<double>& s = world_.S[c];
                f(model_.column_iv[c], Spatial<double>{s.lin + cross(s.ang, p), s.ang});
            }
        }
    }

    // Calls f(v index, twist at `p`) for each column that moves the frame as seen from the frame `other`.
    template <class F>
    void for_relative_columns(int frame, int other, const V& p, F&& f) const {
        for_columns(frame, other, p, f);
        for_columns(other, frame, p, [&](int iv, const Spatial<double>& s) { f(iv, Spatial<double>{-s.lin, -s.ang}); });
    }

    int body_of(int frame) const { return frame < 0 ? -1 : model_.frames[frame].body; }

  private:
    // The last common ancestor of both; parents come before children.
    int common_ancestor(int a, int b) const {
        while (a != b) {
            int& later = a > b ? a : b;
            later = model_.bodies[later].parent;
        }
        return a;
    }

    const Model& model_;
    const World<double>& world_;
};

}  // namespace kinodyn::KINODYN_TARGET
