#include "planning/constrained_problem.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace kinodyn {

ConstraintTable::ConstraintTable(const Model& robot, std::vector<PathConstraint> given, const std::vector<char>& moves,
                                 std::vector<double> low, std::vector<double> high)
    : model(robot),
      constraints(std::move(given)),
      free(moves.begin(), moves.end()),
      lower(std::move(low)),
      upper(std::move(high)) {
    for (const PathConstraint& c : constraints) {
        max_rows += c.kind == ConstraintKind::Pose ? rows_of_pose : 1;
        has_com |= c.kind == ConstraintKind::Com;
    }
    std::vector<char> seen(free.size(), 0);
    for (int i = 0; i < static_cast<int>(model.bodies.size()); ++i) {
        const Body& body = model.bodies[i];
        if (free[body.iv] == 0 || seen[body.iv]) continue;
        seen[body.iv] = 1;
        if (body.kind == Kind::Ball || body.kind == Kind::Free)
            manifold_bodies.push_back(i);
        else
            dofs.push_back({body.iq, body.iv});
    }
}

int ConfigurationTree::add(const double* q, const float* joints, int parent) {
    q_.insert(q_.end(), q, q + nq_);
    return table.add(joints, parent);
}

ConstrainedProblem::ConstrainedProblem(const CollisionQuery& q, const ConstraintTable& constraints,
                                       const ConstrainedSettings& s, std::uint64_t seed, bool samples)
    : query(q),
      table(constraints),
      settings(s),
      samples_manifold(samples),
      nq(q.robot().nq),
      dim(dimension(constraints, samples)),
      start_tree(nq, dim),
      goal_tree(nq, dim),
      random_state(initial_random_state(seed)) {}

int ConstrainedProblem::dimension(const ConstraintTable& table, bool samples_manifold) {
    int n = static_cast<int>(table.dofs.size());
    if (!samples_manifold) return n;
    for (int i : table.manifold_bodies) n += table.model.bodies[i].kind == Kind::Free ? 12 : 9;
    return n;
}

void ConstrainedProblem::coordinates(const double* q, float* out) const {
    for (const ConstraintTable::Dof& dof : table.dofs) *out++ = static_cast<float>(q[dof.iq]);
    if (!samples_manifold) return;
    for (int i : table.manifold_bodies) {
        const Body& body = table.model.bodies[i];
        const double* x = q + body.iq;
        if (body.kind == Kind::Free)
            for (int k = 0; k < 3; ++k) *out++ = static_cast<float>(*x++);
        // |R - R'| is sqrt(8) sin(angle / 2)
        const double a = x[0], b = x[1], c = x[2], w = x[3], scale = std::sqrt(0.5);
        const double R[9] = {1 - 2 * (b * b + c * c), 2 * (a * b - c * w),     2 * (a * c + b * w),
                             2 * (a * b + c * w),     1 - 2 * (a * a + c * c), 2 * (b * c - a * w),
                             2 * (a * c - b * w),     2 * (b * c + a * w),     1 - 2 * (a * a + b * b)};
        for (double r : R) *out++ = static_cast<float>(scale * r);
    }
}

int ConstrainedProblem::add_root(ConfigurationTree& tree, const double* q) {
    std::vector<float> x(static_cast<std::size_t>(dim));
    coordinates(q, x.data());
    return tree.add(q, x.data(), -1);
}

void ConstrainedProblem::set_start(const double* start) { add_root(start_tree, start); }

void ConstrainedProblem::add_goals(const double* goals, int n_goals) {
    for (int i = 0; i < n_goals; ++i)
        new_goals.push_back(add_root(goal_tree, goals + static_cast<std::ptrdiff_t>(i) * nq));
}

void ConstrainedProblem::join(int start_node, int goal_node) {
    std::vector<const double*> vertices;
    for (int i = start_node; i >= 0; i = start_tree.table.parent(i)) vertices.push_back(start_tree.q(i));
    std::reverse(vertices.begin(), vertices.end());
    // both trees contain the configuration where they meet
    for (int i = goal_tree.table.parent(goal_node); i >= 0; i = goal_tree.table.parent(i))
        vertices.push_back(goal_tree.q(i));
    path.clear();
    for (const double* q : vertices) path.insert(path.end(), q, q + nq);
    solved = true;
}

void ConstrainedProblem::replace(int first, int last, const double* vertices, int n) {
    const auto at = [&](int i) { return path.begin() + static_cast<std::ptrdiff_t>(i) * nq; };
    const auto place = path.erase(at(first + 1), at(last));
    path.insert(place, vertices, vertices + static_cast<std::ptrdiff_t>(n) * nq);
}

}  // namespace kinodyn
