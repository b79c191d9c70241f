// One Gauss-Newton step of frames of a clip; see retarget.cpp.
#pragma once

#include <string.h>

#include "kernels/retarget_lanes.hpp"
#include "kernels/world.hpp"
#include "solver/tree_system.hpp"

namespace kinodyn::KINODYN_TARGET {

// One Gauss-Newton step of the frames of a pack.
template <class T>
class FrameStep {
  public:
    explicit FrameStep(const RetargetProblem& problem, T* memory)
        : p_(problem),
          model_(model_for(problem, RealOf<T>())),
          n_(static_cast<int>(problem.dofs.size())),
          clip_(problem),
          system_(problem.tree, most_terms(problem), memory) {
        memory += TreeSystem<T>::words(problem.tree, most_terms(problem));
        const long bodies = static_cast<long>(model_.bodies.size());
        const auto take = [&](long words) {
            T* start = memory;
            memory += words;
            return start;
        };
        at_ = reinterpret_cast<Placement<T>*>(take(12 * bodies));
        angles_ = reinterpret_cast<SinCos<T>*>(take(2 * bodies));
        S_ = reinterpret_cast<Spatial<T>*>(take(6L * model_.ncolumns));
        h_ = reinterpret_cast<Vec3<T>*>(take(3 * bodies));
        mass_ = reinterpret_cast<Real*>(take(bodies));
        carries_ = reinterpret_cast<bool*>(take(bodies));
        weight_ = reinterpret_cast<RigidInertia<T>*>(take(10 * bodies));
        force_ = reinterpret_cast<Spatial<T>*>(take(6 * bodies));
        q_ = take(model_.nq);
        old_ = take(model_.nq);
        g_ = take(n_);
        free_ = take(n_);
        c_ = reinterpret_cast<Vec3<T>*>(take(3L * n_));
        local_ = reinterpret_cast<Vec3<Real>*>(take(3L * problem.points));
        for (int k = 0; k < problem.points; ++k) {
            const double* local = problem.point_local + 3L * k;
            local_[k] = {static_cast<Real>(local[0]), static_cast<Real>(local[1]), static_cast<Real>(local[2])};
        }
    }
    static long words(const RetargetProblem& p) {
        const long bodies = static_cast<long>(p.model->bodies.size()), n = static_cast<long>(p.dofs.size());
        return 35 * bodies + 6L * p.model->ncolumns + 2L * p.model->nq + 5 * n + 3L * p.points +
               TreeSystem<T>::words(p.tree, most_terms(p));
    }

    void run(long t) {
        t_ = t;
        clip_.load_positions(t, q_);
        for (int k = 0; k < model_.nq; ++k) old_[k] = q_[k];
        place();
        clear();
        const T damping = load<T>(p_.damping + t), before = add_all(true);
        for (int i = 0; i < n_; ++i) system_.diagonal(i) += damping;
        fix_at_limits();
        system_.solve(g_);
        integrate();
        if (!p_.settings.verify) {
            clip_.save_positions(q_);
            return;
        }
        place();
        // a step that does not lower the cost is rejected, and the next one is shorter (D. W. Marquardt, 1963)
        const T better = L::one_if_less(add_all(false), before);
        save(p_.damping + t, L::larger(T(min_damping), L::smaller(T(max_damping), damping * (10.0 - 9.7 * better))));
        for (int k = 0; k < model_.nq; ++k) q_[k] = better * q_[k] + (1.0 - better) * old_[k];
        clip_.save_positions(q_);
    }

    // Positions of tracked points and of the CoM, and the lowest points of bodies.
    void measure(long t) {
        t_ = t;
        clip_.load_positions(t, q_);
        place();
        for (int k = 0; k < p_.tracked; ++k) clip_.save_place(p_.point + 3 * k * p_.padded, position(k) + origin_);
        if (p_.settings.base_only)
            for (std::size_t body = 0; body < model_.bodies.size(); ++body)
                save(p_.lowest + body * p_.padded + t, lowest(body));
        if (model_.total_mass <= 0) return;
        gather();
        clip_.save_place(p_.com, T(1 / model_.total_mass) * h_[0] + origin_);
    }

  private:
    using L = Lanes<T>;
    using Real = RealOf<T>;

    const RetargetProblem& p_;
    const ModelFor<T>& model_;
    const int n_;
    ClipLanes<T> clip_;
    long t_ = 0;
    Placement<T>* at_;
    SinCos<T>* angles_;
    Spatial<T>* S_;
    Vec3<T>* h_;
    Real* mass_;
    Vec3<Real>* local_;        // points in their bodies
    RigidInertia<T>* weight_;  // of the points of a body, then of its subtree
    Spatial<T>* force_;        // weighted errors of these points, as a wrench
    bool* carries_;            // whether a body or its subtree has points
    T *q_, *old_, *g_, *free_;
    Vec3<T>* c_;
    Vec3<T> origin_;
    TreeSystem<T> system_;                                                  // normal equations
    static int most_terms(const RetargetProblem& p) { return p.rows + 2; }  // rows, and two of the CoM

    static constexpr double min_damping = 1e-5, max_damping = 1e4;
    static constexpr double at_limit = 1e-6;          // [rad or m] from a limit, more than rounding
    static constexpr double ground_tolerance = 2e-4;  // [m] below the ground, which locked soles do not exceed

    // The cost of the frame, without the CoM; with `derivatives`, also the normal equations.
    T add_all(bool derivatives) {
        T cost = add_points(derivatives) + add_rows(derivatives) + add_proximity(derivatives);
        return cost + add_com(derivatives);
    }

    // Poses and columns about the origin of the first body.
    void place() {
        place_columns(model_, q_, angles_, at_, S_, origin_, [](int) {});
    }

    // Lower bound of the heights of a body's points: the lowest corner of the box around them.
    T lower_bound(std::size_t body) const {
        const RetargetProblem::Box& box = p_.ground_boxes[body];
        const Vec3<T>& up = at_[body].R.z;
        const T extent = box.half[0] * L::larger(up.x, -up.x) + box.half[1] * L::larger(up.y, -up.y) +
                         box.half[2] * L::larger(up.z, -up.z);
        return at_[body].p.z + origin_.z + clip_.height() + dot(up, vec(box.centre)) - extent;
    }
    // Could a point of the body be below the ground in any lane?
    bool reaches_ground(std::size_t body) const {
        return p_.ground_points[body].size() > 0 &&
               !L::all_zero(L::one_if_less(lower_bound(body), T(-ground_tolerance)));
    }
    T height(std::size_t body, int k) const {
        return at_[body].p.z + dot(at_[body].R.z, local_[k]) + origin_.z + clip_.height();
    }
    T lowest(std::size_t body) const {
        if (p_.ground_points[body].empty()) return T(HUGE_VAL);
        if (!reaches_ground(body)) return lower_bound(body);
        T low = T(HUGE_VAL);
        for (const int k : p_.ground_points[body]) low = L::smaller(low, height(body, k));
        return low;
    }
    Vec3<T> position(int k) const {
        const Placement<T>& body = at_[p_.point_body[k]];
        return body.p + body.R * local_[k];
    }
    // First moments of mass of subtrees.
    void gather() {
        const int n = static_cast<int>(model_.bodies.size());
        for (int i = 0; i < n; ++i) {
            const BodyFor<T>& body = model_.bodies[i];
            mass_[i] = body.mass;
            h_[i] = at_[i].R * vec(body.h) + T(body.mass) * at_[i].p;
        }
        for (int i = n - 1; i > 0; --i) {
            const int parent = model_.bodies[i].parent;
            if (parent >= 0) mass_[parent] += mass_[i], h_[parent] += h_[i];
        }
    }

    void clear() {
        system_.clear();
        for (int i = 0; i < n_; ++i) g_[i] = 0.0;
    }

    // Points with weights w^2 are masses, and weighted errors forces on them: their normal equations are a mass matrix,
    // which the composite-rigid-body algorithm finds for all points together.
    T add_points(bool derivatives) {
        if (derivatives) memset(carries_, 0, model_.bodies.size());
        T cost = add_targets(derivatives);
        if (derivatives) add_composites();
        return cost + add_ground(derivatives);
    }
    T add_targets(bool derivatives) {
        T cost = 0.0;
        for (int k = 0; k < p_.tracked; ++k) {
            const T weight = load<T>(p_.weight + k * p_.padded + t_);
            const T squared = weight * weight;
            const Vec3<T> x = position(k);
            const double* target = p_.target + 3 * k * p_.padded;
            const Vec3<T> d =
                Vec3<T>{clip_.load_place(target, 0), clip_.load_place(target, 1), clip_.load_place(target, 2)} -
                (x + origin_);
            cost += squared * dot(d, d);
            if (!derivatives) continue;
            RigidInertia<T> inertia = {squared, squared * x, {}};
            parallel_axis(inertia.I, x, Vec3<T>{T(0.0), T(0.0), T(0.0)}, squared);
            const Vec3<T> f = squared * d;
            accumulate(p_.point_body[k], inertia, {f, cross(x, f)});
        }
        return cost;
    }
    // Adds to the weights and forces of a body; the first replace what is there, which saves clearing all bodies.
    void accumulate(int body, const RigidInertia<T>& inertia, const Spatial<T>& force) {
        if (carries_[body]) {
            weight_[body] += inertia, force_[body] += force;
        } else {
            weight_[body] = inertia, force_[body] = force, carries_[body] = true;
        }
    }
    void add_composites() {
        for (int i = static_cast<int>(model_.bodies.size()) - 1; i >= 0; --i) {
            if (!carries_[i]) continue;
            const auto& chain = p_.chains[static_cast<std::size_t>(i)];
            for (std::size_t k = chain.size(); k-- > 0;) {
                const int c = chain[k].column;
                if (model_.column_body[static_cast<std::size_t>(c)] != i) break;  // columns of ancestors follow
                const Spatial<T> F = weight_[i] * S_[c];
                g_[chain[k].dof] += dot(S_[c], force_[i]);
                add_products(chain, k, [&](int column) { return dot(S_[column], F); });
            }
            const int parent = model_.bodies[i].parent;
            if (parent >= 0) accumulate(parent, weight_[i], force_[i]);
        }
    }
    // Adds product(column) for the columns of a chain from the root to its kth.
    template <class F>
    void add_products(const std::vector<RetargetProblem::Column>& chain, std::size_t k, F&& product) {
        const int own = chain[k].dof;
        if (!model_.mimic) {
            T* const row = system_.row(own);
            for (std::size_t d = 0; d <= k; ++d) row[d] += product(chain[d].column);
            return;
        }
        for (std::size_t d = 0; d <= k; ++d) {
            const int other = chain[d].dof;
            const T value = product(chain[d].column);
            system_.at(own > other ? own : other, own > other ? other : own) += value;
            if (own == other && d != k) system_.diagonal(own) += value;  // mimic joints share a coordinate
        }
    }
    // Points below the ground are lifted.
    T add_ground(bool derivatives) {
        T cost = 0.0;
        for (std::size_t body = 0; body < model_.bodies.size(); ++body)
            if (reaches_ground(body)) cost += lift(body, derivatives);
        return cost;
    }
    // Heights of points change with three components of a body's twist: its linear velocity along z, and its angular
    // velocity about x and y.
    T lift(std::size_t body, bool derivatives) {
        Vec3<T> force = {T(0.0), T(0.0), T(0.0)};
        Mat3<T> A = {force, force, force};
        T cost = 0.0;
        bool lifted = false;
        for (const int k : p_.ground_points[body]) {
            const T z = height(body, k) + ground_tolerance;
            const T below = L::one_if_less(z, T(0.0));
            if (L::all_zero(below)) continue;
            const T weight = below * (p_.settings.ground_weight * p_.settings.ground_weight);
            cost += weight * z * z;
            const Vec3<T> x = position(k), slope = {T(1.0), x.y, -x.x}, weighted = weight * slope;
            force -= z * weighted;
            A.x += weighted.x * slope, A.y += weighted.y * slope, A.z += weighted.z * slope;
            lifted = true;
        }
        if (derivatives && lifted) add_heights(p_.chains[body], A, force);
        return cost;
    }
    void add_heights(const std::vector<RetargetProblem::Column>& chain, const Mat3<T>& A, const Vec3<T>& force) {
        const auto motion = [&](int c) { return Vec3<T>{S_[c].lin.z, S_[c].ang.x, S_[c].ang.y}; };
        for (std::size_t k = 0; k < chain.size(); ++k) {
            const Vec3<T> m = motion(chain[k].column), F = A * m;
            g_[chain[k].dof] += dot(m, force);
            add_products(chain, k, [&](int column) { return dot(motion(column), F); });
        }
    }
    int index(int column) const {
        return p_.dof_index[static_cast<std::size_t>(model_.column_iv[static_cast<std::size_t>(column)])];
    }

    T add_com(bool derivatives) {
        const T weight = load<T>(p_.com_weight + t_);
        if (L::all_zero(weight) || model_.total_mass <= 0) return 0.0;
        gather();
        const T squared = weight * weight;
        const Real share = 1 / model_.total_mass;
        const Vec3<T> com = T(share) * h_[0] + origin_;
        const T x = clip_.load_place(p_.com_target, 0) - com.x, y = clip_.load_place(p_.com_target, 1) - com.y;
        const T cost = squared * (x * x + y * y), dx = squared * x, dy = squared * y;
        if (!derivatives) return cost;
        for (int i = 0; i < n_; ++i) c_[i] = {T(0.0), T(0.0), T(0.0)};
        for (int column = 0; column < model_.ncolumns; ++column) {
            const int i = index(column), body = model_.column_body[static_cast<std::size_t>(column)];
            if (i < 0) continue;
            c_[i] += T(share * mass_[body]) * S_[column].lin + T(share) * cross(S_[column].ang, h_[body]);
        }
        T *along_x = system_.add_term(), *along_y = system_.add_term();
        for (int i = 0; i < n_; ++i) {
            g_[i] += c_[i].x * dx + c_[i].y * dy;
            along_x[i] = weight * c_[i].x, along_y[i] = weight * c_[i].y;
        }
        return cost;
    }

    // Rows gradient . q >= bound, where they are violated. Their gradients are those of joints with one coordinate.
    T add_rows(bool derivatives) {
        T cost = 0.0;
        if (p_.settings.base_only) return cost;
        for (int r = 0; r < p_.rows; ++r) {
            T lack = load<T>(p_.row_bound + r * p_.padded + t_);
            if (L::all_zero(L::one_if_less(T(0.1 * retarget_unused), lack)))
                break;  // rows are in order of distance: the rest is unused
            const float* gradient = p_.gradient_of(r, t_);
            for (const auto& [i, iq] : p_.joints) lack -= load<T>(gradient + i * retarget_block) * q_[iq];
            const T weight = p_.settings.row_weight * L::one_if_less(T(0.0), lack);
            if (L::all_zero(weight)) continue;
            lack *= weight;
            cost += lack * lack;
            if (derivatives) add_row(gradient, weight, lack);
        }
        return cost;
    }
    void add_row(const float* gradient, const T& weight, const T& lack) {
        T* const term = system_.add_term();
        for (int i = 0; i < n_; ++i) {
            term[i] = weight * load<T>(gradient + i * retarget_block);
            g_[i] += lack * term[i];
        }
    }

    T add_proximity(bool derivatives) {
        T cost = 0.0;
        if (!p_.settings.base_only)
            for (const auto& [i, iq] : p_.joints) {
                const double near = p_.proximity[i], rest = p_.posture_weight[i];
                const long k = iq * p_.padded + t_;
                const T d = load_difference<T>(p_.z + k, p_.u + k) - q_[iq], e = p_.posture[iq] - q_[iq];
                cost += near * d * d + rest * e * e;
                if (derivatives) system_.diagonal(i) += near + rest, g_[i] += near * d + rest * e;
            }
        const BodyFor<T>& body = model_.bodies[0];
        if (!clip_.floats() || p_.dof_index[static_cast<std::size_t>(body.iv)] < 0) return cost;
        const double near = p_.settings.base_proximity;
        const T* x = q_ + body.iq;
        const double* rows = p_.z + body.iq * p_.padded;
        T z[7];
        for (int k = 0; k < 7; ++k) z[k] = k < 3 ? clip_.load_place(rows, k) : load<T>(rows + k * p_.padded + t_);
        const Vec3<T> d = tmul(rotation(x + 3), Vec3<T>{z[0] - x[0], z[1] - x[1], z[2] - x[2]});
        // vector part of the quaternion from x to z, twice: the rotation for small angles
        const Vec3<T> a = {x[3], x[4], x[5]}, b = {z[3], z[4], z[5]};
        const Vec3<T> r = T(2.0) * (x[6] * b - z[6] * a - cross(a, b));
        const T e[6] = {d.x, d.y, d.z, r.x, r.y, r.z};
        for (int k = 0; k < 6; ++k) {
            const int i = p_.dof_index[static_cast<std::size_t>(body.iv + k)];
            cost += near * e[k] * e[k];
            if (derivatives) system_.diagonal(i) += near, g_[i] += near * e[k];
        }
        return cost;
    }

    // Fixes joints at a limit that the gradient pushes beyond it, so that the step is optimal for the others.
    void fix_at_limits() {
        if (p_.settings.base_only) return;
        T fixed = 0.0;
        for (int i = 0; i < n_; ++i) free_[i] = 1.0;
        for (const auto& [i, iq] : p_.joints) {
            const T below = L::one_if_less(q_[iq], T(p_.lower[iq] + at_limit)) * L::one_if_less(g_[i], T(0.0));
            const T above = L::one_if_less(T(p_.upper[iq] - at_limit), q_[iq]) * L::one_if_less(T(0.0), g_[i]);
            free_[i] = (1.0 - below) * (1.0 - above);
            fixed += below + above;
        }
        if (L::all_zero(fixed)) return;
        system_.fix(free_);
        for (int i = 0; i < n_; ++i) g_[i] *= free_[i];
    }

    void integrate() {
        const double most = p_.settings.max_change;
        for (int i = 0; i < n_; ++i) g_[i] = L::larger(T(-most), L::smaller(T(most), g_[i]));
        for (const auto& [i, iq] : p_.joints)
            q_[iq] = L::larger(T(p_.lower[iq]), L::smaller(T(p_.upper[iq]), q_[iq] + g_[i]));
        for (const BodyFor<T>& body : model_.bodies) {
            if (dofs(body.kind) == 1) continue;
            const int i = p_.dof_index[static_cast<std::size_t>(body.iv)];
            if (i < 0) continue;
            T *x = q_ + body.iq, *s = g_ + i;
            if (body.kind == Kind::Free) {
                const Vec3<T> d = rotation(x + 3) * Vec3<T>{s[0], s[1], s[2]};
                x[0] += d.x, x[1] += d.y, x[2] += d.z;
                x += 3, s += 3;
            }
            turn_by(x, {s[0], s[1], s[2]});
        }
    }
};

}  // namespace kinodyn::KINODYN_TARGET
