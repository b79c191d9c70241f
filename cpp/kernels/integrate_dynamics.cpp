// Time stepping of the dynamics with constant torques and wrenches, joint friction and stops included: semi-implicit
// Euler, or Runge-Kutta of fourth order on the manifold.
//
// Inputs and outputs: integrate_dynamics.hpp; then external wrenches.
#include "kernels/integrate_dynamics.hpp"

#include "kernels/aba.hpp"
#include "kernels/manifold.hpp"

namespace kinodyn::KINODYN_TARGET {

// Friction and stops of the joints: forces and, for the implicit step, their derivatives by the acceleration.
template <class T>
class JointForces {
  public:
    explicit JointForces(const Work<T>& w)
        : model_(w.model),
          settings_(w.call.template as<IntegrationSettings>()),
          friction_(reinterpret_cast<const JointFriction<T>*>(w.in[integration_input::friction])),
          stops_(reinterpret_cast<const JointStop<T>*>(w.in[integration_input::stops])),
          time_step_(*reinterpret_cast<const TimeStep<T>*>(w.in[integration_input::time_step])) {}

    // Forces at the current state.
    void explicit_forces(const T* q, const T* v, const T* tau, T* force) const {
        for (int k = 0; k < model_.nv; ++k) force[k] = tau[k] - model_.damping[k] * v[k];
        for (int i = 0; i < settings_.n_friction; ++i) {
            const int k = settings_.friction[i].iv;
            force[k] -= slope(i, v[k]) * v[k];
        }
        for_stops(q, v, 0.0, [&](int k, T push, T, T) { force[k] += push; });
    }

    // Forces at the end of the step, force - inertia * acceleration: stable however stiff they are.
    void implicit_forces(const T* q, const T* v, const T* tau, T* force, T* inertia) const {
        const T dt = time_step_.dt;
        for (int k = 0; k < model_.nv; ++k) {
            force[k] = tau[k] - model_.damping[k] * v[k];
            inertia[k] = model_.armature[k] + dt * model_.damping[k];
        }
        for (int i = 0; i < settings_.n_friction; ++i) {
            const int k = settings_.friction[i].iv;
            const T c = slope(i, v[k]), speed = Lanes<T>::larger(v[k], -v[k]);
            force[k] -= c * v[k];
            // where friction could stop the joint within the step, it acts on the remaining velocity: the joint
            // comes to rest
            inertia[k] += dt * c * Lanes<T>::one_if_less(speed, friction_[i].stopping_speed);
        }
        for_stops(q, v, dt, [&](int k, T push, T stiffness, T damping) {
            force[k] += push;
            inertia[k] += dt * (damping + dt * stiffness);
        });
    }

  private:
    // Dry friction as damping: in full above the friction speed, in proportion to the speed below.
    T slope(int i, T rate) const {
        const T speed = Lanes<T>::larger(rate, -rate);
        return friction_[i].force / Lanes<T>::larger(speed, time_step_.friction_speed);
    }

    // Calls f(v index, force, stiffness, damping); the latter two are zero where the joint does not touch the stop.
    template <class F>
    void for_stops(const T* q, const T* v, T look_ahead, F&& f) const {
        for (int i = 0; i < settings_.n_stops; ++i) {
            const JointStopRecord& at = settings_.stops[i];
            const JointStop<T>& stop = stops_[i];
            const T rate = v[at.iv], position = q[at.iq] + look_ahead * rate;
            // a stop never pulls: there is no force on a joint that leaves faster than the spring expands
            const T below = stop.stiffness * (stop.lower - position) - stop.damping * rate;
            const T above = stop.stiffness * (position - stop.upper) + stop.damping * rate;
            const T low = touches(stop.lower - position, below), high = touches(position - stop.upper, above);
            f(at.iv, low * below - high * above, (low + high) * stop.stiffness, (low + high) * stop.damping);
        }
    }
    static T touches(T depth, T force) { return Lanes<T>::one_if_less(0.0, depth) * Lanes<T>::one_if_less(0.0, force); }

    const Model& model_;
    const IntegrationSettings& settings_;
    const JointFriction<T>* friction_;
    const JointStop<T>* stops_;
    const TimeStep<T>& time_step_;
};

// Moves a body's coordinates along its part of the tangent u; rotations one lane at a time, as they branch.
template <class T>
inline void integrate_lanes(const Body& b, const T* q, const T* u, T* out) {
    if constexpr (Lanes<T>::count == 1) {
        integrate_joint(b, q, u, 1.0, out);
    } else if (coordinates(b.kind) == 1) {
        out[b.iq] = q[b.iq] + u[b.iv];
    } else {
        Body own = b;
        own.iq = own.iv = 0;
        for (int lane = 0; lane < Lanes<T>::count; ++lane) {
            double x[7] = {}, y[7] = {}, w[6] = {};
            for (int k = 0; k < coordinates(b.kind); ++k) x[k] = Lanes<T>::lane(q[b.iq + k], lane);
            for (int k = 0; k < dofs(b.kind); ++k) w[k] = Lanes<T>::lane(u[b.iv + k], lane);
            integrate_joint(own, x, w, 1.0, y);
            for (int k = 0; k < coordinates(b.kind); ++k) Lanes<T>::set(out[b.iq + k], lane, y[k]);
        }
    }
}

// The rate of u in q(t) = q(0) exp(u(t)), where v is the velocity seen from q(t): v + [u, v] / 2 + [u, [u, v]] / 12,
// and nothing of third order (H. Munthe-Kaas, "High order Runge-Kutta methods on manifolds", 1999).
template <class T>
inline void tangent_rate(const Body& b, const T* u, const T* v, T* rate) {
    u += b.iv, v += b.iv, rate += b.iv;
    if (b.kind == Kind::Free) {
        const Spatial<T> x = {vec(u), vec(u + 3)}, y = {vec(v), vec(v + 3)};
        const Spatial<T> once = cross_motion(x, y), twice = cross_motion(x, once);
        write(y.lin + 0.5 * once.lin + (1.0 / 12) * twice.lin, rate);
        write(y.ang + 0.5 * once.ang + (1.0 / 12) * twice.ang, rate + 3);
    } else if (b.kind == Kind::Ball) {
        const Vec3<T> x = vec(u), y = vec(v), once = cross(x, y);
        write(y + 0.5 * once + (1.0 / 12) * cross(x, once), rate);
    } else {
        *rate = *v;
    }
}

template <class Method>
struct Integrator {
    static constexpr bool sparse = false;
    static long words(const Call& c) { return Method::words(c) + 10L * c.model->nv + 2L * c.model->nq; }

    template <class T>
    static void run(Work<T>& w) {
        const auto& settings = w.call.template as<IntegrationSettings>();
        const int nq = w.model.nq, nv = w.model.nv;
        T *q = w.out[integration_output::q], *v = w.out[integration_output::v];
        T &steps = *w.out[integration_output::steps], &diverged_dof = *w.out[integration_output::diverged_dof];
        T *next_q = w.take(nq), *next_v = w.take(nv);
        for (int k = 0; k < nq; ++k) q[k] = w.in[integration_input::q][k];
        for (int k = 0; k < nv; ++k) v[k] = w.in[integration_input::v][k];
        steps = static_cast<double>(settings.steps), diverged_dof = -1.0;
        const JointForces<T> joint_forces(w);
        T* free = w.free;
        for (int i = 0; i < settings.steps; ++i) {
            w.free = free;
            if (settings.runge_kutta)
                runge_kutta(w, joint_forces, q, v, next_q, next_v);
            else
                semi_implicit(w, joint_forces, q, v, next_q, next_v);
            if (diverged(w, next_v, diverged_dof)) {
                steps = static_cast<double>(i);
                return;
            }
            for (int k = 0; k < nq; ++k) q[k] = next_q[k];
            for (int k = 0; k < nv; ++k) v[k] = next_v[k];
        }
    }

  private:
    template <class T>
    static const TimeStep<T>& time_step(const Work<T>& w) {
        return *reinterpret_cast<const TimeStep<T>*>(w.in[integration_input::time_step]);
    }

    // Velocities first, then positions along the new ones. The linear velocity of a free body is stepped along the
    // axes it has at the start: in its own rotating axes a body in straight flight would gain speed.
    template <class T>
    static void semi_implicit(Work<T>& w, const JointForces<T>& joint_forces, const T* q, const T* v, T* next_q,
                              T* next_v) {
        const Model& model = w.model;
        const T dt = time_step(w).dt;
        T *force = w.take(model.nv), *inertia = w.take(model.nv), *a = w.take(model.nv);
        joint_forces.implicit_forces(q, v, w.in[integration_input::tau], force, inertia);
        Method::run(w, q, v, GivenJoints<T>{force, inertia}, a);
        for (const Body& b : model.bodies)
            if (b.kind == Kind::Free) write(vec(a + b.iv) + cross(vec(v + b.iv + 3), vec(v + b.iv)), a + b.iv);
        for (int k = 0; k < model.nv; ++k) next_v[k] = v[k] + dt * a[k];
        for (int k = 0; k < model.nv; ++k) a[k] = dt * next_v[k];
        for (const Body& b : model.bodies) {
            integrate_lanes(b, q, a, next_q);
            if (b.kind == Kind::Free) turn_along(b, q, next_q, dt, next_v);
        }
    }

    // Moves a free body straight along its velocity in the axes of q, and expresses that velocity in those of next_q.
    template <class T>
    static void turn_along(const Body& b, const T* q, T* next_q, T dt, T* next_v) {
        const Vec3<T> u = rotation(q + b.iq + 3) * vec(next_v + b.iv);
        write(vec(q + b.iq) + dt * u, next_q + b.iq);
        write(tmul(rotation(next_q + b.iq + 3), u), next_v + b.iv);
    }

    // Fourth order on the manifold: a tangent u at q is stepped in place of the coordinates.
    template <class T>
    static void runge_kutta(Work<T>& w, const JointForces<T>& joint_forces, const T* q, const T* v, T* next_q,
                            T* next_v) {
        const Model& model = w.model;
        const int nv = model.nv;
        const T dt = time_step(w).dt;
        T *stage_v = w.take(nv), *u = w.take(nv), *rate = w.take(nv), *a = w.take(nv);
        T *sum_u = w.take(nv), *sum_a = w.take(nv), *force = w.take(nv), *inertia = w.take(nv);
        T* stage_q = w.take(model.nq);
        for (int k = 0; k < nv; ++k) u[k] = sum_u[k] = sum_a[k] = a[k] = rate[k] = 0.0, inertia[k] = model.armature[k];
        constexpr double node[4] = {0, 0.5, 0.5, 1}, weight[4] = {1, 2, 2, 1};
        T* free = w.free;
        for (int stage = 0; stage < 4; ++stage) {
            w.free = free;
            const T part = node[stage] * dt;
            for (int k = 0; k < nv; ++k) u[k] = part * rate[k], stage_v[k] = v[k] + part * a[k];
            for (const Body& b : model.bodies) {
                integrate_lanes(b, q, u, stage_q);
                tangent_rate(b, u, stage_v, rate);
            }
            joint_forces.explicit_forces(stage_q, stage_v, w.in[integration_input::tau], force);
            Method::run(w, stage_q, stage_v, GivenJoints<T>{force, inertia}, a);
            for (int k = 0; k < nv; ++k) sum_u[k] += weight[stage] * rate[k], sum_a[k] += weight[stage] * a[k];
        }
        for (int k = 0; k < nv; ++k) u[k] = dt * (1.0 / 6) * sum_u[k], next_v[k] = v[k] + dt * (1.0 / 6) * sum_a[k];
        for (const Body& b : model.bodies) integrate_lanes(b, q, u, next_q);
    }

    // Is a rate above the largest allowed, or NaN? Records the fastest joint of each lane.
    template <class T>
    static bool diverged(Work<T>& w, const T* v, T& diverged_dof) {
        const T max_rate = time_step(w).max_rate;
        const double highest = Lanes<T>::lane(max_rate, 0);  // the same in all lanes
        bool fine = true;
        for (int k = 0; k < w.model.nv; ++k) fine &= Lanes<T>::within(v[k], highest);
        if (fine) return false;
        for (int lane = 0; lane < Lanes<T>::count; ++lane) {
            int worst = -1;
            double most = Lanes<T>::lane(max_rate, lane);
            for (int k = 0; k < w.model.nv; ++k) {
                const double rate = fabs(Lanes<T>::lane(v[k], lane));
                if (!(rate <= most)) worst = k, most = rate == rate ? rate : HUGE_VAL;
            }
            Lanes<T>::set(diverged_dof, lane, worst);
        }
        return true;
    }
};

constexpr KernelEntry entries[] = {
    {"integrate_dynamics", run_forward_dynamics<Integrator>},
};
extern const KernelList integrate_dynamics_kernels;
const KernelList integrate_dynamics_kernels = entries;

}  // namespace kinodyn::KINODYN_TARGET
