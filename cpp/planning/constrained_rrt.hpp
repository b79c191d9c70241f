// CBiRRT: two trees grow on the constraint manifold towards samples and towards each other (D. Berenson, S. Srinivasa,
// J. Kuffner, "Task space regions: a framework for pose-constrained manipulation planning", IJRR 2011). Paths are
// simplified by shortcuts on the manifold.
#pragma once

#include "planning/constrained_motion.hpp"
#include "planning/rrt_connect.hpp"

namespace kinodyn::KINODYN_TARGET {

class ConstrainedRrt {
  public:
    static constexpr int max_shortcut = 512;  // vertices
    // Memory besides that of the local planner: a vertex, the next one, a sample, the vertices of a shortcut, a tangent
    // vector.
    static long words(const ConstrainedProblem& p) {
        return padded(p.nq) * (max_shortcut + 4) + padded(p.query.robot().nv);
    }

    ConstrainedRrt(ConstrainedProblem& problem, ConstrainedMotion& motion, double* memory)
        : p_(problem), motion_(motion), dim_(problem.dim) {
        Memory m{memory};
        vertex_ = m.take(p_.nq), sample_ = m.take(p_.nq);
        motion_.set_next(m.take(p_.nq));
        shortcut_ = m.take(static_cast<long>(p_.nq) * max_shortcut);
        tangent_ = m.take(p_.query.robot().nv);
    }

    // Searches until a path is found, or `seconds` have passed: iterations are not cut off, so that the result does not
    // depend on how often a search is continued.
    void run() {
        const double end = steady_time() + p_.seconds;
        if (connect_roots(end)) return;
        while (!p_.solved && p_.iterations < p_.max_iterations && steady_time() < end) iterate();
    }

    // Shortcuts between random vertices of the path.
    void shorten() {
        p_.deadline = steady_time() + p_.seconds;
        if (p_.path_size() > 2) shortcut(0, p_.path_size() - 1);
        int failures = 0;
        while (p_.path_size() > 2 && failures < p_.settings.shortcut_failures && steady_time() < p_.deadline) {
            const int n = p_.path_size();
            int a = static_cast<int>(random() * n), b = static_cast<int>(random() * n);
            if (a > b) a ^= b, b ^= a, a ^= b;
            failures = b - a > 1 && shortcut(a, b) ? 0 : failures + 1;
        }
    }

  private:
    // Extends from the start to the goals that have been added.
    bool connect_roots(double end) {
        while (!p_.new_goals.empty() && steady_time() < end) {
            const int goal = p_.new_goals.front();
            p_.new_goals.erase(p_.new_goals.begin());
            const int reached = extend(p_.start_tree, 0, p_.goal_tree.q(goal), true, __builtin_inf());
            if (met_) return p_.join(reached, goal), true;
        }
        return false;
    }

    void iterate() {
        ++p_.iterations;
        const bool from_start = p_.start_tree.table.size() <= p_.goal_tree.table.size();
        ConfigurationTree &tree = from_start ? p_.start_tree : p_.goal_tree,
                          &other = from_start ? p_.goal_tree : p_.start_tree;
        draw_sample();
        const int near = nearest(tree, sample_);
        const int added = extend(tree, near, sample_, false, p_.settings.range);
        if (added == near) return;
        const int facing = nearest(other, tree.q(added));
        const int joined = extend(other, facing, tree.q(added), true, __builtin_inf());
        if (met_) from_start ? p_.join(added, joined) : p_.join(joined, added);
    }

    // Adds vertices towards a target. Returns the last one, `node` if there are none; met_ is set if the target is
    // reached.
    int extend(ConfigurationTree& tree, int node, const double* target, bool on_constraints, double range) {
        int last = node;
        for (int k = 0; k < p_.nq; ++k) sample_[k] = target[k];  // trees move in memory as they grow
        met_ = motion_.extend(tree.q(node), sample_, on_constraints, range, vertex_,
                              [&](const double* q) { last = tree.add(q, coordinates(q), last); });
        return last;
    }

    // Half of the samples are uniform, the others are near straight motions between nodes of the two trees.
    void draw_sample() {
        const bool anywhere = random() < 0.5f;
        const double s = random();
        const int goal = pick(p_.goal_tree.table.size());
        const double *a = p_.start_tree.q(pick(p_.start_tree.table.size())), *b = p_.goal_tree.q(goal);
        for (int k = 0; k < p_.nq; ++k) sample_[k] = a[k];
        for (std::size_t k = 0; k < p_.table.dofs.size(); ++k) {
            const int iq = p_.table.dofs[k].iq;
            const double low = p_.lower[k], high = p_.upper[k];
            double x = low + (high - low) * random();
            if (!anywhere) x = a[iq] + s * (b[iq] - a[iq]) + p_.settings.spread * (high - low) * normal();
            sample_[iq] = clipped(x, low, high);
        }
        if (!p_.samples_manifold) return;
        for (int i : p_.table.manifold_bodies) {
            const Body& body = p_.table.model.bodies[i];
            anywhere ? draw_pose(body) : draw_pose_near(body, a, b, s);
        }
    }

    static double clipped(double x, double low, double high) { return x < low ? low : x > high ? high : x; }

    // A uniform position within the bounds, and a uniform rotation (K. Shoemake, Graphics Gems III, 1992).
    void draw_pose(const Body& body) {
        double* x = sample_ + body.iq;
        if (body.kind == Kind::Free)
            for (int k = body.iq; k < body.iq + 3; ++k) {
                const double low = p_.table.lower[k], high = p_.table.upper[k];
                *x++ = low + (high - low) * random();
            }
        const double turn = 6.283185307179586, u = random(), a = turn * random(), b = turn * random();
        const double r = __builtin_sqrt(1 - u), w = __builtin_sqrt(u);
        x[0] = r * sin(a), x[1] = r * cos(a), x[2] = w * sin(b), x[3] = w * cos(b);
    }

    // A pose near the geodesic between those at a and b.
    void draw_pose_near(const Body& body, const double* a, const double* b, double s) {
        joint_difference(body, a, b, tangent_);
        for (int k = body.iv; k < body.iv + dofs(body.kind); ++k)
            tangent_[k] = s * tangent_[k] + p_.settings.spread * 3.141592653589793 * normal();
        integrate_joint(body, a, tangent_, 1, sample_);
        if (body.kind == Kind::Free)
            for (int k = body.iq; k < body.iq + 3; ++k)
                sample_[k] = clipped(sample_[k], p_.table.lower[k], p_.table.upper[k]);
    }

    bool shortcut(int first, int last) {
        int n = 0;
        double length = 0, before = 0;
        for (int i = first; i < last; ++i) before += motion_.distance(p_.vertex(i), p_.vertex(i + 1));
        for (int k = 0; k < p_.nq; ++k) sample_[k] = p_.vertex(last)[k];
        const double* previous = p_.vertex(first);
        const bool met = motion_.extend(previous, sample_, true, 0.98 * before, vertex_, [&](const double* q) {
            if (n == max_shortcut) return;
            length += motion_.distance(previous, q);
            double* row = shortcut_ + static_cast<long>(n++) * p_.nq;
            for (int k = 0; k < p_.nq; ++k) row[k] = q[k];
            previous = row;
        });
        if (!met || n == max_shortcut || length > 0.98 * before) return false;
        p_.replace(first, last, shortcut_, n - 1);  // the last one is there already
        return true;
    }

    const float* coordinates(const double* q) {
        p_.coordinates(q, coordinates_);
        return coordinates_;
    }
    int nearest(const ConfigurationTree& tree, const double* q) {
        return nearest_node(tree.table, dim_, coordinates(q)).node;
    }

    float random() { return uniform(p_.random_state); }
    int pick(int n) { return static_cast<int>(random() * static_cast<float>(n)) % n; }
    // Nearly normal, of mean 0 and variance 1: a sum of uniform numbers.
    double normal() {
        double sum = -2;
        for (int k = 0; k < 4; ++k) sum += static_cast<double>(random());
        return 1.7320508075688772 * sum;
    }

    ConstrainedProblem& p_;
    ConstrainedMotion& motion_;
    int dim_;
    double *vertex_, *sample_, *shortcut_, *tangent_;
    float coordinates_[max_planned_dofs];
    bool met_ = false;
};

}  // namespace kinodyn::KINODYN_TARGET
