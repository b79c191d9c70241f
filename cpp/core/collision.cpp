#include "core/collision.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <tuple>
#include <utility>

#include "core/rigid_transform.hpp"

namespace kinodyn {

namespace {

struct Point {
    double x, y, z;
};
Point point(const double* p) { return {p[0], p[1], p[2]}; }
double norm(const Point& p) { return std::sqrt(p.x * p.x + p.y * p.y + p.z * p.z); }

template <class From, class To>
void copy(const From* from, int n, To* to) {
    for (int i = 0; i < n; ++i) to[i] = static_cast<To>(from[i]);
}

FloatBody to_float(const Body& body) {
    FloatBody f{};
    f.kind = body.kind, f.parent = body.parent, f.iq = body.iq, f.aligned = body.aligned;
    f.scale = static_cast<float>(body.scale), f.offset = static_cast<float>(body.offset);
    copy(body.R, 9, f.R), copy(body.p, 3, f.p), copy(body.axis, 3, f.axis);
    return f;
}

// Maximum distance of the origin of a body from that of its parent, with the joint within its limits.
double longest_offset(const Body& b, const CollisionQuery::Joints& joints, bool moves) {
    const auto largest = [&](int iq, double scale, double offset) {
        const double low = moves ? joints.lower[iq] : joints.q[iq], high = moves ? joints.upper[iq] : low;
        return std::max(std::fabs(scale * low + offset), std::fabs(scale * high + offset));
    };
    const double length = norm(point(b.p));
    if (b.kind == Kind::Prismatic) return length + largest(b.iq, b.scale, b.offset);
    if (b.kind != Kind::Free) return length;
    return length + norm({largest(b.iq, 1, 0), largest(b.iq + 1, 1, 0), largest(b.iq + 2, 1, 0)});
}

// Distance of a point from the axis of a revolute joint, in the coordinates of its body; from its origin otherwise.
double lever(Kind kind, const Point& p) {
    if (kind == Kind::RevoluteX) return std::hypot(p.y, p.z);
    if (kind == Kind::RevoluteY) return std::hypot(p.x, p.z);
    if (kind == Kind::RevoluteZ || kind == Kind::RevoluteAny) return std::hypot(p.x, p.y);
    return norm(p);
}

double box_distance(const BoxObstacle& box, const Point& p) {
    const double d[3] = {p.x - box.p[0], p.y - box.p[1], p.z - box.p[2]};
    double square = 0;
    for (int i = 0; i < 3; ++i) {
        const double along = box.R[3 * i] * d[0] + box.R[3 * i + 1] * d[1] + box.R[3 * i + 2] * d[2];
        const double beyond = std::max(std::fabs(along) - box.half[i], 0.0);
        square += beyond * beyond;
    }
    return std::sqrt(square);
}

double round_distance(const RoundObstacle& o, const Point& p) {
    const Point d = {p.x - o.p[0], p.y - o.p[1], p.z - o.p[2]};
    const double along = d.x * o.axis[0] + d.y * o.axis[1] + d.z * o.axis[2];
    const double t = std::min(std::max(along, -static_cast<double>(o.half)), static_cast<double>(o.half));
    return norm({d.x - t * o.axis[0], d.y - t * o.axis[1], d.z - t * o.axis[2]}) - o.radius;
}

// Merges missing elements into a sorted list.
void merge(const std::vector<int>& added, std::vector<int>& list) {
    std::vector<int> all;
    std::set_union(list.begin(), list.end(), added.begin(), added.end(), std::back_inserter(all));
    list.swap(all);
}

}  // namespace

CollisionQuery::CollisionQuery(const Model& robot, const SphereModel& spheres, const Obstacles& obstacles,
                               const std::vector<char>& allowed, const Joints& joints)
    : q(joints.q, joints.q + robot.nq), robot_(robot), spheres_(spheres), obstacles_(obstacles) {
    for (const Body& body : robot.bodies) bodies_.push_back(to_float(body));
    std::vector<int> users(robot.nq, 0);
    for (const Body& body : robot.bodies) ++users[body.iq];
    periodic_.assign(robot.nq, 0);
    for (const Body& body : robot.bodies) periodic_[body.iq] = body.kind <= Kind::RevoluteAny && users[body.iq] == 1;
    find_moving(joints);
    place_fixed_bodies(joints);
    bound_sweeps(joints);
    find_near(allowed, joints);
}

void CollisionQuery::find_moving(const Joints& joints) {
    const int n = static_cast<int>(robot_.bodies.size());
    moves.assign(n, 0);
    std::vector<int> moved_by(n, -1);  // the last body on the path whose joint moves: bodies of equal ones form a unit
    for (int i = 0; i < n; ++i) {
        const Body& b = robot_.bodies[i];
        moved_by[i] = b.parent < 0 ? -1 : moved_by[b.parent];
        for (int k = 0; k < dofs(b.kind); ++k)
            if (joints.moves[b.iv + k]) moved_by[i] = i;
        moves[i] = moved_by[i] >= 0;
        if (moves[i]) moving_bodies.push_back(i);
    }
    for (int i : moving_bodies) {
        const Body& b = robot_.bodies[i];
        if (b.kind >= Kind::Ball && joints.moves[b.iv]) moving_manifold_bodies.push_back(i);
    }
    std::vector<char> seen(robot_.nv, 0);  // mimic joints share their coordinate with the joint they follow
    for (const Body& b : robot_.bodies) {
        if (b.kind >= Kind::Ball || !joints.moves[b.iv] || seen[b.iv]) continue;
        moving_dofs.push_back({b.iq, b.iv});
        seen[b.iv] = 1;
    }
    const auto unit = [&](int group) {
        const int body = spheres_.groups[group].body;
        return body < 0 ? -1 : moved_by[body];
    };
    for (int g = 0; g < static_cast<int>(spheres_.groups.size()); ++g)
        if (joints.check_fixed || unit(g) >= 0) checked_groups.push_back(g);
    std::vector<int> checked;  // pairs of the sphere model
    for (std::size_t k = 0; k < spheres_.pairs.size(); ++k)
        if (unit(spheres_.pairs[k].a) != unit(spheres_.pairs[k].b)) checked.push_back(static_cast<int>(k));
    complete = checked.size() == spheres_.pairs.size();
    find_unit_pairs(checked);
}

void CollisionQuery::find_unit_pairs(const std::vector<int>& checked) {
    for (int g : checked_groups) {
        const int unit = spheres_.unit_of(g);
        if (std::find(checked_units.begin(), checked_units.end(), unit) == checked_units.end())
            checked_units.push_back(unit);
    }
    using Key = std::tuple<bool, int, int, int>;
    std::vector<std::pair<Key, int>> sorted;
    for (const int k : checked) {
        // those with a table come first: a table costs little, and near pairs collide most often
        const int table = spheres_.pair_tables[k];
        const SphereModel::Pair& pair = spheres_.pairs[k];
        sorted.push_back({{table < 0, table, spheres_.unit_of(pair.a), spheres_.unit_of(pair.b)}, k});
    }
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& p, const auto& r) { return p.first < r.first; });
    for (int k = 0; k < static_cast<int>(sorted.size()); ++k) {
        pairs.push_back(spheres_.pairs[sorted[k].second]);
        slacks.push_back(spheres_.pair_slacks[sorted[k].second]);
        if (k == 0 || sorted[k].first != sorted[k - 1].first) {
            const auto [no_table, table, a, b] = sorted[k].first;
            unit_pairs.push_back({a, b, k, k, no_table ? nullptr : &spheres_.tables[table]});
        }
        unit_pairs.back().end = k + 1;
    }
}

bool CollisionQuery::solids_touch(int pair, const float* pose, float margin) const {
    constexpr double rounding = 3e-5;  // [m] of poses in float32
    Transform T;
    copy(pose, 9, T.R), copy(pose + 9, 3, T.p);
    const Solid &first = *spheres_.solids[pairs[pair].a], &second = *spheres_.solids[pairs[pair].b];
    return nearer_than(first, second, T, static_cast<double>(margin) + rounding);
}

void CollisionQuery::place_fixed_bodies(const Joints& joints) {
    const int n = static_cast<int>(robot_.bodies.size());
    std::vector<Transform> poses(n);
    fixed_poses.resize(n);
    for (int i = 0; i < n; ++i) {
        if (moves[i]) continue;
        const Body& b = robot_.bodies[i];
        const Transform joint = joint_transform(b, joints.q);
        const Transform parent = b.parent < 0 ? Transform{} : poses[b.parent];
        multiply(parent.R, joint.R, poses[i].R);
        copy(parent.p, 3, poses[i].p);
        add_rotated(parent.R, joint.p, poses[i].p);
        copy(poses[i].R, 9, fixed_poses[i].R), copy(poses[i].p, 3, fixed_poses[i].p);
    }
}

// Adds the joints on the path from a group towards the root, before the body `until`. In the current body, the group
// lies within `after` of the point `first`.
void CollisionQuery::add_sweep(const Joints& joints, int group, int until, float* row) const {
    const SphereNode& root = spheres_.root(group);
    Point first = {root.centre[0], root.centre[1], root.centre[2]};
    double after = root.r;
    for (int i = spheres_.groups[group].body; i != until; i = robot_.bodies[i].parent) {
        const Body& b = robot_.bodies[i];
        for (int k = 0; k < dofs(b.kind); ++k) {
            if (!joints.moves[b.iv + k]) continue;
            const bool slides = b.kind == Kind::Prismatic || (b.kind == Kind::Free && k < 3);
            const double speed = slides ? 1.0 : lever(b.kind, first) + after;
            row[b.iv + k] += static_cast<float>(std::fabs(b.scale) * speed);
        }
        after += norm(first);
        first = point(b.p);
        if (b.kind == Kind::Prismatic || b.kind == Kind::Free)
            after += longest_offset(b, joints, joints.moves[b.iv] != 0) - norm(first);
    }
}

void CollisionQuery::bound_sweeps(const Joints& joints) {
    group_sweeps_.assign(spheres_.groups.size() * row_size(), 0.0f);
    for (int g : checked_groups) add_sweep(joints, g, -1, group_sweeps_.data() + row_size() * g);
    pair_sweeps_.assign(pairs.size() * row_size(), 0.0f);
    for (std::size_t k = 0; k < pairs.size(); ++k) {
        int a = spheres_.groups[pairs[k].a].body, b = spheres_.groups[pairs[k].b].body;
        while (a != b) (a > b ? a : b) = robot_.bodies[a > b ? a : b].parent;  // parents have lower indices
        for (int group : {pairs[k].a, pairs[k].b}) add_sweep(joints, group, a, pair_sweeps_.data() + row_size() * k);
    }
    const auto widen = [&](const float* row, float* widest) {
        for (std::size_t i = 0; i < row_size(); ++i) widest[i] = std::max(widest[i], row[i]);
    };
    unit_sweeps_.assign(spheres_.units.size() * row_size(), 0.0f);
    for (int g : checked_groups) widen(group_sweep(g), unit_sweeps_.data() + row_size() * spheres_.unit_of(g));
    unit_pair_sweeps_.assign(unit_pairs.size() * row_size(), 0.0f);
    for (std::size_t u = 0; u < unit_pairs.size(); ++u)
        for (int k = unit_pairs[u].begin; k < unit_pairs[u].end; ++k)
            widen(pair_sweep(k), unit_pair_sweeps_.data() + row_size() * u);
}

// A ball that always contains a group: about the origin of the first moving body on the path to it.
CollisionQuery::Ball CollisionQuery::reachable(int group, const Joints& joints) const {
    const SphereNode& bounding = spheres_.root(group);
    const double centre[3] = {bounding.centre[0], bounding.centre[1], bounding.centre[2]};
    const auto from_fixed = [&](int body, const double* p, double radius) {
        Ball ball{{p[0], p[1], p[2]}, radius};
        if (body < 0) return ball;
        double R[9];
        copy(fixed_poses[body].R, 9, R), copy(fixed_poses[body].p, 3, ball.centre);
        add_rotated(R, p, ball.centre);
        return ball;
    };
    int root = spheres_.groups[group].body;
    if (root < 0 || !moves[root]) return from_fixed(root, centre, bounding.r);
    double reach = bounding.r + norm(point(centre));
    for (int up = robot_.bodies[root].parent; up >= 0 && moves[up]; up = robot_.bodies[root].parent) {
        reach += longest_offset(robot_.bodies[root], joints, true);
        root = up;
    }
    const Body& b = robot_.bodies[root];
    if (b.kind == Kind::Prismatic || b.kind == Kind::Free) reach += longest_offset(b, joints, true);
    return from_fixed(b.parent, b.p, reach);
}

void CollisionQuery::find_near(const std::vector<char>& allowed, const Joints& joints) {
    near.resize(spheres_.groups.size());
    const std::size_t n_groups = spheres_.groups.size();
    std::vector<char> checked(n_groups, 0);
    for (int g : checked_groups) checked[g] = 1;
    for (int g = 0; g < static_cast<int>(n_groups); ++g) {
        const Ball ball = reachable(g, joints);
        constexpr double rounding = 1e-4;
        const Point from = point(ball.centre);
        const auto may_touch = [&](int owner) { return !allowed[static_cast<std::size_t>(owner) * n_groups + g]; };
        const auto add = [&](const auto& all, std::vector<int>& list, auto&& distance) {
            for (int i = 0; i < static_cast<int>(all.size()); ++i)
                if (may_touch(all[i].owner) && !(distance(all[i]) > ball.radius + rounding)) list.push_back(i);
        };
        const auto to_box = [&](const BoxObstacle& o) { return box_distance(o, from); };
        const auto to_capsule = [&](const RoundObstacle& o) { return round_distance(o, from); };
        add(obstacles_.upright_boxes, near[g].upright_boxes, to_box);
        add(obstacles_.boxes, near[g].boxes, to_box);
        add(obstacles_.capsules, near[g].capsules, to_capsule);
        add(obstacles_.cylinders, near[g].cylinders, to_capsule);  // the capsule contains the cylinder
        add(obstacles_.surfaces, near[g].surfaces, [&](const SurfaceObstacle& o) { return to_box(o.bounds); });
        if (!checked[g] && !near[g].empty()) complete = false;
    }
    unit_near.resize(spheres_.units.size());
    for (int u : checked_units)
        for (int g : spheres_.units[u].groups) {
            merge(near[g].upright_boxes, unit_near[u].upright_boxes);
            merge(near[g].boxes, unit_near[u].boxes);
            merge(near[g].capsules, unit_near[u].capsules);
            merge(near[g].cylinders, unit_near[u].cylinders);
            merge(near[g].surfaces, unit_near[u].surfaces);
        }
}

}  // namespace kinodyn
