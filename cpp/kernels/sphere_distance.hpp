// Distances between the spheres of a robot's links, and to obstacles, at one configuration.
//
// Branch and bound: a sphere of a tree contains its children, so that two subtrees, or a subtree and an obstacle, are
// not nearer to each other than their spheres are. Subtrees that cannot be nearer than the best so far are skipped.
#pragma once

#include <stdlib.h>
#include <string.h>

#include <type_traits>

#include "kernels/obstacle_distance.hpp"
#include "kernels/world.hpp"

namespace kinodyn::KINODYN_TARGET {

// Two spheres, or a sphere and an obstacle, and how near they are.
struct Proximity {
    int pair = -1;                // of the query
    int first = -1, second = -1;  // nodes; second: -1 for an obstacle
    double distance = HUGE_VAL;   // [m], negative if they overlap
};

// The points that are nearest to each other, from the common point of World, and the gradient of the distance for
// motions of the first one: a unit vector.
struct WitnessPoints {
    Point first, second, normal;
};

// Poses of the bodies, measured from `origin`.
struct Poses {
    const Placement<double>* at;
    Point origin;
};

class SphereDistances {
  public:
    SphereDistances(const DistanceQuery& query, const Model& model, const World<double>& world)
        : query_(query), model_(model), world_(world), nodes_(query.spheres().nodes.data()) {}
    ~SphereDistances() { free(large_); }
    SphereDistances(const SphereDistances&) = delete;
    SphereDistances& operator=(const SphereDistances&) = delete;

    const DistanceQuery& query() const { return query_; }

    // The nearest of all pairs; none (pair -1) if all are `bound` [m] or farther apart.
    Proximity nearest(double bound) const {
        Proximity best;
        best.distance = bound;
        int first = -1;
        double least = bound;
        for (int k = 0; k < query_.count(); ++k) {
            const double d = lower_bound(k);
            if (d < least) least = d, first = k;
        }
        if (first < 0) return best;
        improve(first, best);
        for (int k = 0; k < query_.count(); ++k)
            if (k != first && may_be_nearer(k, best.distance)) improve(k, best);
        return best;
    }

    // Calls f(Proximity) for the nearest spheres of each pair that is nearer than `bound` [m], a number or a function
    // of the pair.
    template <class Bound, class F>
    void each_within(const Bound& bound, F&& f) const {
        for (int k = 0; k < query_.count(); ++k) {
            Proximity best;
            if constexpr (std::is_same_v<Bound, double>)
                best.distance = bound;
            else
                best.distance = bound(k);
            find_nearest(k, best, f);
        }
    }
    // The same for one pair.
    template <class F>
    void nearest_of(int pair, double bound, F&& f) const {
        Proximity best;
        best.distance = bound;
        find_nearest(pair, best, f);
    }

    int group_count() const { return static_cast<int>(query_.spheres().groups.size()); }
    Poses poses() const { return {world_.at, world_.origin}; }

    // Upper bound of the motion of the spheres of a group from other poses.
    double motion(int group, const Poses& before) const {
        const int body = body_of(group);
        if (body < 0) return 0;
        Placement<double> A = before.at[body];
        A.p += before.origin - world_.origin;
        return motion(A, world_.at[body], query_.spheres().root(group));
    }

    // Whether the spheres around the parts of a pair are nearer than `bound` [m].
    bool may_be_nearer(int pair, double bound) const {
        const Roots r = roots(pair);
        const double reach = r.radii + bound;
        return reach > 0 && dot(r.offset, r.offset) < reach * reach;
    }

    // Calls f(Proximity) for the spheres of a pair that are nearer than `bound` [m], which f may reduce. Returns a
    // lower bound of the distances of all others.
    template <class F>
    double each_below(int pair, const double& bound, F&& f) const {
        return traverse(pair, bound, f);
    }
    // A bound of a pair's distance by the spheres around its groups.
    double lower_bound(int pair) const {
        const Roots r = roots(pair);
        return length(r.offset) - r.radii;
    }

    // The spheres around both parts of a pair; those of obstacles belong to body -1.
    struct BoundingSphere {
        int body;
        Point centre;
        double radius;
    };
    struct BoundingSpheres {
        BoundingSphere first, second;
    };
    BoundingSpheres bounding_spheres(int pair) const {
        if (pair < n_pairs()) return {bounding_sphere(query_.pairs[pair].a), bounding_sphere(query_.pairs[pair].b)};
        const DistanceQuery::ObstaclePair& o = obstacle_pair(pair);
        return {bounding_sphere(o.group), {-1, vec(o.centre) - world_.origin, o.radius}};
    }

    // The nearest spheres of one pair, if they are nearer than `best`.
    void improve(int pair, Proximity& best) const {
        traverse(pair, best.distance, [&](const Proximity& near) { best = near; });
    }

    // Calls f(Proximity) for all spheres of a pair that are nearer to each other than `bound` [m].
    template <class F>
    void each_sphere_within(int pair, double bound, F&& f) const {
        if (may_be_nearer(pair, bound)) traverse(pair, bound, f);
    }

    // The distance of two spheres at this configuration.
    double distance(const Proximity& of) const {
        if (of.second >= 0) return length(between_centres(of)) - node(of.first).r - node(of.second).r;
        const Point c = in_world(first_centre(of));
        return visit_obstacle(query_.obstacles(), obstacle_pair(of.pair),
                              [&](const auto& solid) { return solid.at(c).distance; }) -
               node(of.first).r;
    }

    WitnessPoints witness_points(const Proximity& of) const {
        const Point c = first_centre(of);
        if (of.second < 0) {
            const SolidDistance d = visit_obstacle(query_.obstacles(), obstacle_pair(of.pair),
                                                   [&](const auto& solid) { return solid.at(in_world(c)); });
            return {c - node(of.first).r * d.normal, c - d.distance * d.normal, d.normal};
        }
        const Point offset = between_centres(of);
        const double far = length(offset);
        const Point n = far > 0 ? (1 / far) * offset : Point{0, 0, 1};
        return {c - node(of.first).r * n, c - (far - node(of.second).r) * n, n};
    }

    // Calls f(v index, derivative of the distance) for each column that moves one body of a pair and not the other.
    template <class F>
    void for_columns(const Proximity& of, const WitnessPoints& at, F&& f) const {
        const int a = first_body(of), b = second_body(of);
        int common = a, other = b;
        while (common != other) {
            int& later = common > other ? common : other;
            later = model_.bodies[later].parent;
        }
        for (const auto& [body, sign] : {Side{a, 1.0}, Side{b, -1.0}}) {
            const Point& p = sign > 0 ? at.first : at.second;
            const Point n = sign * at.normal, moment = cross(p, n);
            for (int i = body; i != common; i = model_.bodies[i].parent)
                for (int c = model_.bodies[i].column; c < model_.bodies[i].column + dofs(model_.bodies[i].kind); ++c)
                    f(model_.column_iv[c], dot(world_.S[c].lin, n) + dot(world_.S[c].ang, moment));
        }
    }

    // Second derivative of the distance that is due to the velocities of the two centres.
    double curvature(const Proximity& of, const Point& v_first, const Point& v_second) const {
        if (of.second < 0) {
            const Point c = in_world(first_centre(of));
            return visit_obstacle(query_.obstacles(), obstacle_pair(of.pair),
                                  [&](const auto& solid) { return solid.curvature(c, v_first); });
        }
        const Point offset = between_centres(of), v = v_first - v_second;
        const double square = dot(offset, offset), along = dot(offset, v);
        return square > 0 ? (dot(v, v) - along * along / square) / __builtin_sqrt(square) : 0;
    }

    int first_body(const Proximity& of) const {
        return body_of(of.pair < n_pairs() ? query_.pairs[of.pair].a : obstacle_pair(of.pair).group);
    }
    int second_body(const Proximity& of) const { return of.second < 0 ? -1 : body_of(query_.pairs[of.pair].b); }
    Point first_centre(const Proximity& of) const { return centre(of.first, first_body(of)); }
    Point second_centre(const Proximity& of) const { return centre(of.second, second_body(of)); }

  private:
    struct Side {
        int body;
        double sign;
    };
    static constexpr int max_stack_groups = 128;  // groups that fit on the stack

    int n_pairs() const { return static_cast<int>(query_.pairs.size()); }
    int body_of(int group) const { return query_.spheres().groups[group].body; }
    const SphereNode& node(int i) const { return nodes_[i]; }
    const DistanceQuery::ObstaclePair& obstacle_pair(int pair) const { return query_.obstacle_pairs[pair - n_pairs()]; }
    bool is_leaf(int i) const { return node(i).next == i + 1; }

    Point in_world(const Point& p) const { return p + world_.origin; }
    Point centre(int i, int body) const {
        const Point c = point(node(i).centre);
        return body < 0 ? c - world_.origin : world_.at[body].p + world_.at[body].R * c;
    }
    Point between_centres(const Proximity& of) const { return first_centre(of) - second_centre(of); }

    BoundingSphere bounding_sphere(int group) const {
        return {body_of(group), root_centre(group), query_.spheres().root(group).r};
    }

    // Upper bound of the motion of points of a sphere between two poses.
    static double motion(const Placement<double>& A, const Placement<double>& B, const SphereNode& sphere) {
        const Mat3<double> D = {B.R.x - A.R.x, B.R.y - A.R.y, B.R.z - A.R.z};
        const double turn = __builtin_sqrt(dot(D.x, D.x) + dot(D.y, D.y) + dot(D.z, D.z));
        return length(B.p - A.p + D * point(sphere.centre)) + turn * sphere.r;
    }

    // Centres of the spheres around groups, computed when they are first needed.
    const Point& root_centre(int group) const {
        if (!roots_) place_roots();
        return roots_[group];
    }
    void place_roots() const {
        const int n = group_count();
        if (n > max_stack_groups) large_ = static_cast<Point*>(malloc(sizeof(Point) * static_cast<std::size_t>(n)));
        roots_ = n > max_stack_groups ? large_ : small_;
        for (int g = 0; g < n; ++g) roots_[g] = centre(query_.spheres().groups[g].begin, body_of(g));
    }

    template <class F>
    void find_nearest(int pair, Proximity& best, F&& f) const {
        if (!may_be_nearer(pair, best.distance)) return;
        improve(pair, best);
        if (best.pair >= 0) f(best);
    }

    struct Roots {
        Point offset;
        double radii;
    };
    Roots roots(int pair) const {
        if (pair < n_pairs()) {
            const auto [a, b] = query_.pairs[pair];
            return {root_centre(a) - root_centre(b), double(query_.spheres().root(a).r) + query_.spheres().root(b).r};
        }
        const DistanceQuery::ObstaclePair& o = obstacle_pair(pair);
        return {in_world(root_centre(o.group)) - vec(o.centre), query_.spheres().root(o.group).r + o.radius};
    }

    struct Visit {
        int i, j;
        double bound;
    };

    // Sorts the last entries of a stack so that the nearest is on top.
    static void nearest_last(Visit* begin, Visit* end) {
        for (Visit* k = begin + 1; k < end; ++k)
            for (Visit* m = k; m > begin && (m - 1)->bound < m->bound; --m) {
                const Visit other = *m;
                *m = *(m - 1), *(m - 1) = other;
            }
    }

    typedef double Four __attribute__((vector_size(32)));
    typedef float FourFloats __attribute__((vector_size(16)));
    static void load(const float* from, Four& to) {
        FourFloats values;
        memcpy(&values, from, sizeof values);
        to = __builtin_convertvector(values, Four);
    }

    static constexpr Four none = {HUGE_VAL, HUGE_VAL, HUGE_VAL, HUGE_VAL};
    static Four root(const Four& of) {
        Four result;
        for (int k = 0; k < 4; ++k) result[k] = __builtin_sqrt(of[k]);
        return result;
    }
    static double least(const Four& of) {
        const double a = of[0] < of[1] ? of[0] : of[1], b = of[2] < of[3] ? of[2] : of[3];
        return a < b ? a : b;
    }

    // Calls leaf(Proximity) for spheres that are nearer than `bound`, which it may reduce; returns a lower bound of the
    // distances of the others.
    template <class Leaf>
    double traverse(int pair, const double& bound, Leaf&& leaf) const {
        return pair < n_pairs() ? traverse_groups(pair, bound, leaf) : traverse_obstacle(pair, bound, leaf);
    }

    // Descends both trees at once, expanding the larger of two spheres. Coordinates are those of the body of
    // the first one.
    template <class Leaf>
    double traverse_groups(int pair, const double& most, Leaf&& leaf) const {
        const auto [a, b] = query_.pairs[pair];
        const Placement<double> T = relative(body_of(a), body_of(b));
        Visit stack[max_stack];
        int n = 0;
        double pruned = HUGE_VAL;
        const auto prune = [&](double bound) { pruned = bound < pruned ? bound : pruned; };
        const auto meet = [&](int i, int j, double bound) {
            if (!is_leaf(i) || !is_leaf(j))
                stack[n++] = {i, j, bound};
            else if (bound < most)
                leaf(Proximity{pair, i, j, bound});
            else
                prune(bound);
        };
        const auto seen = [&](int j) { return T.p + T.R * point(node(j).centre); };
        {
            const int i = query_.spheres().groups[a].begin, j = query_.spheres().groups[b].begin;
            const Point d = seen(j) - point(node(i).centre);
            meet(i, j, length(d) - node(i).r - node(j).r);
        }
        while (n > 0) {
            const auto [i, j, bound] = stack[--n];
            if (bound >= most) {
                prune(bound);
                continue;
            }
            const bool in_first = is_leaf(j) || (!is_leaf(i) && node(i).r > node(j).r);
            const int other = in_first ? j : i;
            const DistanceQuery::Children& four = query_.children()[query_.children_of()[in_first ? i : j]];
            Four x, y, z, r;
            load(four.x, x), load(four.y, y), load(four.z, z), load(four.r, r);
            Point c = in_first ? seen(j) : point(node(i).centre);
            if (!in_first) {
                const Four u = T.R.x.x * x + T.R.x.y * y + T.R.x.z * z, v = T.R.y.x * x + T.R.y.y * y + T.R.y.z * z;
                z = T.R.z.x * x + T.R.z.y * y + T.R.z.z * z, x = u, y = v;
                c -= T.p;
            }
            x -= c.x, y -= c.y, z -= c.z, r += double(node(other).r);
            const Four far = root(x * x + y * y + z * z) - r;
            const auto near = far < most;
            prune(least(near ? none : far));
            const int begin = n;
            for (int k = 0; k < 4; ++k)
                if (near[k]) in_first ? meet(four.node[k], j, far[k]) : meet(i, four.node[k], far[k]);
            if (n - begin > 1) nearest_last(stack + begin, stack + n);
        }
        return pruned;
    }

    template <class Leaf>
    double traverse_obstacle(int pair, const double& most, Leaf&& leaf) const {
        const DistanceQuery::ObstaclePair& o = obstacle_pair(pair);
        const SphereGroup& group = query_.spheres().groups[o.group];
        visit_obstacle(query_.obstacles(), o, [&](const auto& solid) {
            int i = group.begin;
            while (i < group.end) {
                const double d = solid.at(in_world(centre(i, group.body)), most + node(i).r).distance - node(i).r;
                const bool near = d < most;
                if (near && is_leaf(i)) leaf(Proximity{pair, i, -1, d});
                i = near ? i + 1 : node(i).next;
            }
        });
        return most;  // larger distances are not exact
    }

    // Pose of body b in body a.
    Placement<double> relative(int a, int b) const {
        const Poses now = {world_.at, world_.origin};
        return relative(placement(now, a), placement(now, b));
    }
    static Placement<double> relative(const Placement<double>& A, const Placement<double>& B) {
        const Mat3<double> Bt = {B.R.column(0), B.R.column(1), B.R.column(2)};
        const Mat3<double> columns = {tmul(A.R, Bt.x), tmul(A.R, Bt.y), tmul(A.R, Bt.z)};
        return {{columns.column(0), columns.column(1), columns.column(2)}, tmul(A.R, B.p - A.p)};
    }
    static Placement<double> placement(const Poses& poses, int body) {
        if (body >= 0) return poses.at[body];
        Placement<double> fixed = kinodyn::KINODYN_TARGET::world<double>();
        fixed.p = -poses.origin;
        return fixed;
    }

    static constexpr int max_stack = 256;  // a level of the two trees adds three at most, and there are 2 * 15 of them

    const DistanceQuery& query_;
    const Model& model_;
    const World<double>& world_;
    const SphereNode* const nodes_;
    mutable Point small_[max_stack_groups], *large_ = nullptr, *roots_ = nullptr;
};

}  // namespace kinodyn::KINODYN_TARGET
