// RRT-Connect with dynamic domains: two trees grow towards random samples and towards each other
// (J. Kuffner, S. LaValle, ICRA 2000; L. Jaillet, A. Yershova, S. LaValle, T. Simeon, IROS 2005).
#pragma once

#include "kernels/motion_checks.hpp"
#include "planning/informed.hpp"
#include "planning/problem.hpp"
#include "planning/random.hpp"

namespace kinodyn::KINODYN_TARGET {

struct Nearest {
    int node;
    float distance;
};

// The node nearest to q by the L2 norm; of equally near ones the first.
inline Nearest nearest_node(const NodeTable& tree, int dim, const float* q) {
    FloatPack best = __builtin_inff(), best_block = 0.0f;
    for (int i = 0; i < tree.size(); i += float_lanes) {
        FloatPack sum = 0.0f;
        for (int k = 0; k < dim; ++k) {
            FloatPack x;
            memcpy(&x, tree.column(k) + i, sizeof x);
            sum += square(x - q[k]);
        }
        const FloatMask nearer = sum < best;
        best = select(nearer, sum, best);
        best_block = select(nearer, static_cast<float>(i / float_lanes), best_block);
    }
    int lane = 0;
    for (int i = 1; i < float_lanes; ++i) {
        const bool first = best[i] == best[lane] && best_block[i] < best_block[lane];
        if (best[i] < best[lane] || first) lane = i;
    }
    return {static_cast<int>(best_block[lane]) * float_lanes + lane, __builtin_sqrtf(best[lane])};
}

class RrtConnect {
  public:
    RrtConnect(PlanningProblem& problem, MotionChecker& checker)
        : p_(problem), checker_(checker), dim_(problem.dim), informed_(problem) {}

    // Searches until a path is found or `seconds` have passed.
    void run() {
        const double end = steady_time() + p_.seconds;
        if (connect_roots(end)) return;
        while (!p_.solved && !is_exhausted() && steady_time() < end) iterate();
    }

  private:
    bool is_exhausted() const { return p_.iterations >= p_.max_iterations || p_.edge_checks >= p_.max_edge_checks; }

    // Tries the straight edges from the start to the goals: in open space one of them is often free.
    bool connect_roots(double end) {
        float q[max_planned_dofs];
        for (int i = p_.goals_tried; i < p_.n_goals && (i == 0 || steady_time() < end); p_.goals_tried = ++i) {
            load(p_.goal_tree, i, q);
            if (!edge_free(p_.start_tree, 0, q)) continue;
            finish(0, i);
            return true;
        }
        return false;
    }

    void iterate() {
        ++p_.iterations;
        choose_tree();
        NodeTable& tree = p_.extend_start ? p_.start_tree : p_.goal_tree;
        NodeTable& other = p_.extend_start ? p_.goal_tree : p_.start_tree;
        float sample[max_planned_dofs];
        const bool local = p_.local_fraction > 0 && random() < static_cast<float>(p_.local_fraction);
        if (local)
            draw_around(tree, sample);
        else if (!informed_.sample([&] { return random(); }, sample))
            for (int k = 0; k < dim_; ++k) sample[k] = p_.lower[k] + (p_.upper[k] - p_.lower[k]) * random();
        const Nearest near = nearest_node(tree, dim_, sample);
        if ((!local && near.distance > tree.domain(near.node)) || near.distance == 0) return;
        const int added = extend(tree, near, sample);
        adapt_domain(tree, near.node, added >= 0);
        if (added < 0) return;
        load(tree, added, sample);
        const int joined = connect(other, sample);
        if (joined >= 0) p_.extend_start ? finish(added, joined) : finish(joined, added);
    }

    // A sample around a node, often very near: where a tree is enclosed, hardly any uniform sample leads on (expansive
    // spaces: D. Hsu, J. Latombe, R. Motwani, ICRA 1997).
    void draw_around(const NodeTable& tree, float* sample) {
        const int node = static_cast<int>(random() * static_cast<float>(tree.size())) % tree.size();
        const float u = random(), spread = 2 * static_cast<float>(p_.settings.range) * u * u * u;
        for (int k = 0; k < dim_; ++k) {
            const float x = tree.at(node, k) + spread * (2 * random() - 1);
            sample[k] = x < p_.lower[k] ? p_.lower[k] : x > p_.upper[k] ? p_.upper[k] : x;
        }
    }

    // The smaller tree grows.
    void choose_tree() { p_.extend_start = p_.start_tree.size() <= p_.goal_tree.size(); }

    void adapt_domain(NodeTable& tree, int node, bool success) {
        float& domain = tree.domain(node);
        const PlannerSettings& s = p_.settings;
        const float growth = static_cast<float>(s.domain_growth);
        if (success && domain < __builtin_inff()) domain *= 1 + growth;
        if (success) return;
        if (domain == __builtin_inff()) {
            domain = static_cast<float>(s.domain_radius);
            return;
        }
        domain *= 1 - growth;
        if (domain < static_cast<float>(s.domain_min)) domain = static_cast<float>(s.domain_min);
    }

    // Adds a node at most `range` from the nearest one towards q. Returns it, -1 if the edge is not free.
    int extend(NodeTable& tree, const Nearest& near, const float* q) {
        float target[max_planned_dofs];
        const float range = static_cast<float>(p_.settings.range);
        const float part = near.distance > range ? range / near.distance : 1.0f;
        for (int k = 0; k < dim_; ++k) {
            const float from = tree.at(near.node, k);
            target[k] = part < 1 ? from + part * (q[k] - from) : q[k];
        }
        if (!edge_free(tree, near.node, target)) return -1;
        return tree.add(target, near.node);
    }

    // Extends the tree towards q as far as edges are free. Returns the node at q, -1 if it is not reached.
    int connect(NodeTable& tree, const float* q) {
        Nearest near = nearest_node(tree, dim_, q);
        while (near.distance > 0) {
            const int added = extend(tree, near, q);
            if (added < 0) return -1;
            near = {added, distance(tree, added, q)};
        }
        return near.node;
    }

    bool edge_free(const NodeTable& tree, int node, const float* q) {
        float from[max_planned_dofs], v[max_planned_dofs];
        for (int k = 0; k < dim_; ++k) from[k] = tree.at(node, k), v[k] = q[k] - from[k];
        ++p_.edge_checks;
        return checker_.free_at_resolution(from, v, static_cast<float>(p_.settings.edge_step)) &&
               (!p_.continuous || checker_.free_throughout(from, v, static_cast<float>(p_.settings.resolution)));
    }

    float distance(const NodeTable& tree, int node, const float* q) const {
        float sum = 0;
        for (int k = 0; k < dim_; ++k) sum += (tree.at(node, k) - q[k]) * (tree.at(node, k) - q[k]);
        return __builtin_sqrtf(sum);
    }

    void load(const NodeTable& tree, int node, float* q) const {
        for (int k = 0; k < dim_; ++k) q[k] = tree.at(node, k);
    }

    void append(const NodeTable& tree, int node) {
        for (int k = 0; k < dim_; ++k) p_.path.push_back(tree.at(node, k));
    }

    void finish(int start_node, int goal_node) {
        int depth = 0;
        for (int i = start_node; i >= 0; i = p_.start_tree.parent(i)) ++depth;
        p_.path.assign(static_cast<std::size_t>(depth * dim_), 0.0f);
        for (int i = start_node; i >= 0; i = p_.start_tree.parent(i))
            load(p_.start_tree, i, p_.path.data() + static_cast<std::size_t>(--depth * dim_));
        // both trees contain the configuration where they meet
        for (int i = skip_meeting(start_node, goal_node); i >= 0; i = p_.goal_tree.parent(i)) append(p_.goal_tree, i);
        p_.solved = true;
    }

    int skip_meeting(int start_node, int goal_node) const {
        float q[max_planned_dofs];
        load(p_.start_tree, start_node, q);
        return distance(p_.goal_tree, goal_node, q) > 0 ? goal_node : p_.goal_tree.parent(goal_node);
    }

    float random() { return uniform(p_.random_state); }

    PlanningProblem& p_;
    MotionChecker& checker_;
    int dim_;
    InformedSampler informed_;
};

}  // namespace kinodyn::KINODYN_TARGET
