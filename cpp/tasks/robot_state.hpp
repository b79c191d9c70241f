// A robot at one state, as tasks and limits see it.
#pragma once

#include "kernels/constraints.hpp"
#include "kernels/frames.hpp"
#include "kernels/manifold.hpp"

namespace kinodyn::KINODYN_TARGET {

struct CuttingPlanes;

struct RobotState {
    const Model& model;
    const World<double>& world;  // with the inertias of subtrees
    const double *q, *v;
    V com;  // in the world
    Frames frames;
    const Motion<double>* motion = nullptr;  // of the bodies; null at the velocity level
    bool brakes = false;                     // whether limits act on accelerations, so that rows depend on the motion
    const Motion<double>* step_motion = nullptr;  // velocity level: of the previous step
    CuttingPlanes* cuts = nullptr;                // of limits, from earlier attempts at this step
    double reach = 0;                             // [m] additional look-ahead of limits, compared to a short step
    Spatial<double> momentum = {},
                    momentum_rate = {};  // about the CoM; the rate is that at joint accelerations of zero

    RobotState(const Model& m, const World<double>& w, const double* configuration, const double* velocity)
        : model(m), world(w), q(configuration), v(velocity), com(centre(m, w) + w.origin), frames(m, w) {}

    // Velocity of a frame at the point p, and its acceleration there at joint accelerations of zero, both as seen from
    // the frame `other`, whose axes may turn; in world axes.
    void relative_motion(int frame, int other, const V& p, Spatial<double>& rate, Spatial<double>& drift) const {
        const Spatial<double> a = at_point(motion->v, frame, p), b = at_point(motion->v, other, p);
        rate = a - b;
        drift = point_drift(frame, p, a) - point_drift(other, p, b);
        drift.lin -= 2 * cross(b.ang, rate.lin);
        drift.ang -= cross(b.ang, a.ang);
    }

    // Calls f(v index, velocity of the CoM) for each column.
    template <class F>
    void for_com_columns(F&& f) const {
        for (int c = 0; c < model.ncolumns; ++c) {
            const auto& I = world.I[model.column_body[c]];
            const Spatial<double>& s = world.S[c];
            f(model.column_iv[c], model.inverse_mass * (I.mass * s.lin + cross(s.ang, I.h)));
        }
    }

  private:
    Spatial<double> at_point(const Spatial<double>* of, int frame, const V& p) const {
        const int body = frames.body_of(frame);
        if (body < 0) return {V{0, 0, 0}, V{0, 0, 0}};
        return {of[body].lin + cross(of[body].ang, p), of[body].ang};
    }
    Spatial<double> point_drift(int frame, const V& p, const Spatial<double>& velocity) const {
        Spatial<double> a = at_point(motion->bias, frame, p);
        a.lin += cross(velocity.ang, velocity.lin);
        return a;
    }
};

// Velocities and bias accelerations of all bodies, the force on each at joint accelerations of zero, and the sums of
// momentum and force about the common point. Inertias are still those of single bodies.
inline void move_bodies(const Model& model, const World<double>& world, const double* v, const V& gravity,
                        const Motion<double>& motion, Spatial<double>* force, Spatial<double>& momentum) {
    const V zero = {0, 0, 0};
    momentum = {zero, zero};
    for (int i = 0; i < static_cast<int>(model.bodies.size()); ++i) {
        move_body<double>(model, world, i, v, nullptr, {zero, zero}, motion.v, motion.bias);
        const Spatial<double> own = world.I[i] * motion.v[i];
        const Spatial<double> a = {motion.bias[i].lin - gravity, motion.bias[i].ang};
        force[i] = world.I[i] * a + cross_force(motion.v[i], own);
        momentum += own;
    }
}

inline double component(const Spatial<double>& s, int k) {
    const V& a = k < 3 ? s.lin : s.ang;
    return k % 3 == 0 ? a.x : k % 3 == 1 ? a.y : a.z;
}

}  // namespace kinodyn::KINODYN_TARGET
