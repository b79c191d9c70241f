// Motion over many steps of time with constant torques and wrenches, joint friction and stops included.
//
// Inputs: 0 q, 1 v, 2 tau, 3 settings (time step, highest rate, speed below which friction fades), 4 of each joint with
// friction: its force, and the speed that a step could take from it, 5 stops: lower, upper, stiffness, damping of each,
// then wrenches.
// call.mode: twice the number of steps, plus 1 for Runge-Kutta. call.more: frames of the wrenches, number of stops,
// number of joints with friction, (q index, v index) of each stop, v index of each joint with friction.
// Outputs: 0 q, 1 v, 2 steps done and, where these are too few, the v index that ran away.
#include "kernels/aba.hpp"
#include "kernels/algorithms.hpp"
#include "kernels/manifold.hpp"

namespace kinodyn::KINODYN_TARGET {

// Laws of friction and stops: forces, and for steps that look ahead how they grow with the acceleration.
template <class T>
class Resistance {
  public:
    Resistance(const Work<T>& w, int first_wrench)
        : model_(w.model), friction_(w.in[4]), stops_(w.in[5]), dt_(w.in[3][0]), slow_(w.in[3][2]) {
        const int* plan = w.call.more + (w.call.n_in - first_wrench);
        n_stops_ = plan[0], n_friction_ = plan[1];
        at_ = plan + 2, rough_ = plan + 2 + 2 * n_stops_;
    }

    // Forces as they are now.
    void now(const T* q, const T* v, const T* tau, T* force) const {
        for (int k = 0; k < model_.nv; ++k) force[k] = tau[k] - model_.damping[k] * v[k];
        for (int i = 0; i < n_friction_; ++i) force[rough_[i]] -= slope(i, v) * v[rough_[i]];
        for_stops(q, v, 0.0, [&](int k, T push, T, T) { force[k] += push; });
    }

    // Forces as they will be at the end of the step, force - inertia * acceleration: stable however stiff they are.
    void ahead(const T* q, const T* v, const T* tau, T* force, T* inertia) const {
        for (int k = 0; k < model_.nv; ++k) {
            force[k] = tau[k] - model_.damping[k] * v[k];
            inertia[k] = model_.armature[k] + dt_ * model_.damping[k];
        }
        for (int i = 0; i < n_friction_; ++i) {
            const int k = rough_[i];
            const T c = slope(i, v), speed = Lanes<T>::larger(v[k], -v[k]);
            force[k] -= c * v[k];
            // a joint that could stop within the step is held by what is left of its velocity, so that it rests
            inertia[k] += dt_ * c * Lanes<T>::one_if_less(speed, friction_[2 * i + 1]);
        }
        for_stops(q, v, dt_, [&](int k, T push, T stiffness, T damping) {
            force[k] += push;
            inertia[k] += dt_ * (damping + dt_ * stiffness);
        });
    }

  private:
    // Dry friction as damping: all of it above the speed `slow_`, in proportion to the speed below.
    T slope(int i, const T* v) const {
        const T rate = v[rough_[i]];
        return friction_[2 * i] / Lanes<T>::larger(Lanes<T>::larger(rate, -rate), slow_);
    }

    // Calls f(v index, force, stiffness, damping); the latter two are zero where the joint does not touch the stop.
    template <class F>
    void for_stops(const T* q, const T* v, T look_ahead, F&& f) const {
        for (int i = 0; i < n_stops_; ++i) {
            const int k = at_[2 * i + 1];
            const T rate = v[k], position = q[at_[2 * i]] + look_ahead * rate;
            const T *bound = stops_ + 4 * i, stiffness = bound[2], damping = bound[3];
            // a stop pushes and never pulls: a joint that leaves faster than the spring follows is free
            const T below = stiffness * (bound[0] - position) - damping * rate;
            const T above = stiffness * (position - bound[1]) + damping * rate;
            const T low = touches(bound[0] - position, below), high = touches(position - bound[1], above);
            f(k, low * below - high * above, (low + high) * stiffness, (low + high) * damping);
        }
    }
    static T touches(T depth, T force) { return Lanes<T>::one_if_less(0.0, depth) * Lanes<T>::one_if_less(0.0, force); }

    const Model& model_;
    const T *friction_, *stops_;
    T dt_, slow_;
    int n_stops_, n_friction_;
    const int *at_, *rough_;
};

// Moves a body's coordinates along its part of the tangent u; rotations one lane at a time, as they branch.
template <class T>
inline void step_lanes(const Body& b, const T* q, const T* u, T* out) {
    if constexpr (Lanes<T>::count == 1) {
        step(b, q, u, 1.0, out);
    } else if (coordinates(b.kind) == 1) {
        out[b.iq] = q[b.iq] + u[b.iv];
    } else {
        Body own = b;
        own.iq = own.iv = 0;
        for (int lane = 0; lane < Lanes<T>::count; ++lane) {
            double x[7] = {}, y[7] = {}, w[6] = {};
            for (int k = 0; k < coordinates(b.kind); ++k) x[k] = Lanes<T>::lane(q[b.iq + k], lane);
            for (int k = 0; k < dofs(b.kind); ++k) w[k] = Lanes<T>::lane(u[b.iv + k], lane);
            step(own, x, w, 1.0, y);
            for (int k = 0; k < coordinates(b.kind); ++k) Lanes<T>::set(out[b.iq + k], lane, y[k]);
        }
    }
}

template <class T>
inline Vec3<T> load3(const T* x) {
    return {x[0], x[1], x[2]};
}
template <class T>
inline void save3(T* x, const Vec3<T>& a) {
    x[0] = a.x, x[1] = a.y, x[2] = a.z;
}

// The rate of u in q(t) = q(0) exp(u(t)), where v is the velocity seen from q(t): v + [u, v] / 2 + [u, [u, v]] / 12,
// and nothing of third order (H. Munthe-Kaas, "High order Runge-Kutta methods on manifolds", 1999).
template <class T>
inline void tangent_rate(const Body& b, const T* u, const T* v, T* rate) {
    u += b.iv, v += b.iv, rate += b.iv;
    if (b.kind == Kind::Free) {
        const Spatial<T> x = {load3(u), load3(u + 3)}, y = {load3(v), load3(v + 3)};
        const Spatial<T> once = cross_motion(x, y), twice = cross_motion(x, once);
        save3(rate, y.lin + 0.5 * once.lin + (1.0 / 12) * twice.lin);
        save3(rate + 3, y.ang + 0.5 * once.ang + (1.0 / 12) * twice.ang);
    } else if (b.kind == Kind::Ball) {
        const Vec3<T> x = load3(u), y = load3(v), once = cross(x, y);
        save3(rate, y + 0.5 * once + (1.0 / 12) * cross(x, once));
    } else {
        *rate = *v;
    }
}

template <class Method>
struct Advance {
    static constexpr bool sparse = false;
    static constexpr int first_wrench = 6;
    static long words(const Call& c) { return Method::words(c) + 9L * c.model->nv + 2L * c.model->nq; }

    template <class T>
    static void run(Work<T>& w) {
        const int nq = w.model.nq, nv = w.model.nv, steps = w.call.mode / 2;
        T *q = w.out[0], *v = w.out[1];
        T *next_q = w.take(nq), *next_v = w.take(nv);
        for (int k = 0; k < nq; ++k) q[k] = w.in[0][k];
        for (int k = 0; k < nv; ++k) v[k] = w.in[1][k];
        w.out[2][0] = static_cast<double>(steps), w.out[2][1] = -1.0;
        const Resistance<T> resistance(w, first_wrench);
        T* free = w.free;
        for (int i = 0; i < steps; ++i) {
            w.free = free;
            if (w.call.mode & 1)
                runge_kutta(w, resistance, q, v, next_q, next_v);
            else
                semi_implicit(w, resistance, q, v, next_q, next_v);
            if (ran_away(w, next_v)) {
                w.out[2][0] = static_cast<double>(i);
                return;
            }
            for (int k = 0; k < nq; ++k) q[k] = next_q[k];
            for (int k = 0; k < nv; ++k) v[k] = next_v[k];
        }
    }

  private:
    // Velocities first, then positions along the new ones. The linear velocity of a free body is stepped along the
    // axes it has at the start: in its own turning axes a body that flies straight would gain speed.
    template <class T>
    static void semi_implicit(Work<T>& w, const Resistance<T>& resistance, const T* q, const T* v, T* next_q,
                              T* next_v) {
        const Model& model = w.model;
        const T dt = w.in[3][0];
        T *force = w.take(model.nv), *inertia = w.take(model.nv), *a = w.take(model.nv);
        resistance.ahead(q, v, w.in[2], force, inertia);
        Method::run(w, first_wrench, q, v, GivenJoints<T>{force, inertia}, a);
        for (const Body& b : model.bodies)
            if (b.kind == Kind::Free) save3(a + b.iv, load3(a + b.iv) + cross(load3(v + b.iv + 3), load3(v + b.iv)));
        for (int k = 0; k < model.nv; ++k) next_v[k] = v[k] + dt * a[k];
        for (int k = 0; k < model.nv; ++k) a[k] = dt * next_v[k];
        for (const Body& b : model.bodies) {
            step_lanes(b, q, a, next_q);
            if (b.kind == Kind::Free) turn_along(b, q, next_q, dt, next_v);
        }
    }

    // Lets a free body fly straight along its velocity in the axes of q, and gives that in the axes of next_q.
    template <class T>
    static void turn_along(const Body& b, const T* q, T* next_q, T dt, T* next_v) {
        const Vec3<T> u = rotation(q + b.iq + 3) * load3(next_v + b.iv);
        save3(next_q + b.iq, load3(q + b.iq) + dt * u);
        save3(next_v + b.iv, tmul(rotation(next_q + b.iq + 3), u));
    }

    // Fourth order on the manifold: a tangent u at q is stepped in place of the coordinates.
    template <class T>
    static void runge_kutta(Work<T>& w, const Resistance<T>& resistance, const T* q, const T* v, T* next_q, T* next_v) {
        const Model& model = w.model;
        const int nv = model.nv;
        const T dt = w.in[3][0];
        T *stage_v = w.take(nv), *u = w.take(nv), *rate = w.take(nv), *a = w.take(nv);
        T *sum_u = w.take(nv), *sum_a = w.take(nv), *force = w.take(nv);
        T* stage_q = w.take(model.nq);
        for (int k = 0; k < nv; ++k) u[k] = sum_u[k] = sum_a[k] = a[k] = rate[k] = 0.0;
        constexpr double reach[4] = {0, 0.5, 0.5, 1}, weight[4] = {1, 2, 2, 1};
        T* free = w.free;
        for (int stage = 0; stage < 4; ++stage) {
            w.free = free;
            const T part = reach[stage] * dt;
            for (int k = 0; k < nv; ++k) u[k] = part * rate[k], stage_v[k] = v[k] + part * a[k];
            for (const Body& b : model.bodies) {
                step_lanes(b, q, u, stage_q);
                tangent_rate(b, u, stage_v, rate);
            }
            resistance.now(stage_q, stage_v, w.in[2], force);
            Method::run(w, first_wrench, stage_q, stage_v, Plain<T>{model, force}, a);
            for (int k = 0; k < nv; ++k) sum_u[k] += weight[stage] * rate[k], sum_a[k] += weight[stage] * a[k];
        }
        for (int k = 0; k < nv; ++k) u[k] = dt * (1.0 / 6) * sum_u[k], next_v[k] = v[k] + dt * (1.0 / 6) * sum_a[k];
        for (const Body& b : model.bodies) step_lanes(b, q, u, next_q);
    }

    template <class T>
    struct Plain {
        const Model& model;
        const T* forces;
        T force(int iv) const { return forces[iv]; }
        double armature(int iv) const { return model.armature[iv]; }
    };

    // Is a rate above the highest allowed, or no number? Notes the fastest joint of each lane.
    template <class T>
    static bool ran_away(Work<T>& w, const T* v) {
        const double highest = Lanes<T>::lane(w.in[3][1], 0);
        bool fine = true;
        for (int k = 0; k < w.model.nv; ++k) fine &= Lanes<T>::within(v[k], highest);
        if (fine) return false;
        for (int lane = 0; lane < Lanes<T>::count; ++lane) {
            int worst = -1;
            double most = Lanes<T>::lane(w.in[3][1], lane);
            for (int k = 0; k < w.model.nv; ++k) {
                const double rate = fabs(Lanes<T>::lane(v[k], lane));
                if (!(rate <= most)) worst = k, most = rate == rate ? rate : HUGE_VAL;
            }
            Lanes<T>::set(w.out[2][1], lane, worst);
        }
        return true;
    }
};

void integrate_dynamics(const Call& c, long begin, long end, Fault& f) {
    if (c.model->mimic)
        run<Advance<FactoredMass>>(c, begin, end, f);
    else
        run<Advance<ArticulatedBodies>>(c, begin, end, f);
}

}  // namespace kinodyn::KINODYN_TARGET
