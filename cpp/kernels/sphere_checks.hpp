// Collision checks of several configurations at once, one per lane, on the spheres of a robot (core/collision.hpp).
#pragma once

#include "core/collision.hpp"
#include "kernels/clearance.hpp"
#include "kernels/float_placement.hpp"
#include "kernels/obstacle_checks.hpp"

namespace kinodyn::KINODYN_TARGET {

inline FloatMask overlap(const LaneSphere& a, const LaneSphere& b) {
    const Vec3<FloatPack> d = a.c - b.c;
    return dot(d, d) <= square(a.r + b.r);
}

// Checks lanes of configurations. Margins inflate the spheres of each unit, and of each unit pair, by an amount for
// each lane: `margin` times the widths, or the widths of the lanes; null if there are none.
class SphereChecker {
  public:
    struct Margins {
        const float *unit_width = nullptr, *pair_width = nullptr;
        FloatPack margin = 0.0f;
        const FloatPack *unit_lanes = nullptr, *pair_lanes = nullptr;
    };

    static long bytes(const CollisionQuery& query) {
        return static_cast<long>((query.fixed_poses.size() + 1) * sizeof(Placement<FloatPack>) +
                                 query.spheres().units.size() * sizeof(LaneSphere) +
                                 query.pairs.size() * sizeof(UnresolvedPair) +
                                 (query.unit_pairs.size() + query.checked_units.size()) * sizeof(int));
    }

    // `memory` must be aligned to 64 bytes.
    SphereChecker(const CollisionQuery& query, char* memory) : query_(query) {
        const long bodies = static_cast<long>(query.fixed_poses.size()) + 1;
        placements_ = reinterpret_cast<Placement<FloatPack>*>(memory) + 1;  // body -1 is the world
        bounding_ = reinterpret_cast<LaneSphere*>(placements_ + bodies - 1);
        placements_[-1] = {{{1.0f, 0.0f, 0.0f}, {0.0f, 1.0f, 0.0f}, {0.0f, 0.0f, 1.0f}}, {0.0f, 0.0f, 0.0f}};
        for (long i = 0; i < bodies - 1; ++i) place_fixed(static_cast<int>(i));
        for (int u = 0; u < n_units(); ++u) place_bounding(u);
        unresolved_ = reinterpret_cast<UnresolvedPair*>(bounding_ + n_units());
        order_ = reinterpret_cast<int*>(unresolved_ + query.pairs.size());
        for (int k = 0; k < n_pairs(); ++k)
            if (query.unit_pairs[k].table) order_[n_tests_++] = k;
        for (const int u : query.checked_units) order_[n_tests_++] = n_pairs() + u;
        for (int k = 0; k < n_pairs(); ++k)
            if (!query.unit_pairs[k].table) order_[n_tests_++] = k;
    }

    // The lanes of `alive` that collide; with `any`, at least one of them if there are any.
    unsigned collisions(const FloatPack* q, unsigned alive, bool any, const Margins& margins) {
        margins_ = margins;
        alive_ = alive, any_ = any, hit_ = 0, n_unresolved_ = n_near_ = 0;
        place(q);
        for (int i = 0; i < n_tests_; ++i) {
            const int test = order_[i];
            if (test < n_pairs())
                check_unit_pair(test, q);
            else
                check_unit(test - n_pairs());
            if (!done()) continue;
            // pairs that collided are likely to collide in the next check: they are tested first
            for (; i > 0; --i) order_[i] = order_[i - 1];
            order_[0] = test;
            return hit_;
        }
        resolve_surfaces();
        for (int i = 0; i < n_unresolved_ && !done(); ++i) resolve(unresolved_[i]);
        return hit_;
    }

    // The lanes of `alive` in which a further obstacle touches the robot at the configurations of the last call, with
    // the same margins.
    template <class Obstacle>
    unsigned collisions_with(const Obstacle& obstacle, unsigned alive) {
        alive_ = alive, any_ = false, hit_ = 0, n_near_ = 0;
        for (int g : query_.checked_groups) {
            check_obstacle(g, unit_width(query_.spheres().unit_of(g)), obstacle);
            if (done()) break;
        }
        resolve_surfaces();
        return hit_;
    }

    // Calls with_obstacle(owner, group, lanes) and with_pair(pair, lanes) for all contacts in lanes of `alive`,
    // except pairs that a table reports free.
    template <class WithObstacle, class WithPair>
    void all_touching(const FloatPack* q, unsigned alive, WithObstacle&& with_obstacle, WithPair&& with_pair) {
        margins_ = {};
        alive_ = alive, any_ = false, n_near_ = 0;
        place(q);
        for (int g : query_.checked_groups)
            for_obstacles(g, [&](const auto& obstacle) {
                hit_ = 0;
                check_obstacle(g, 0.0f, obstacle);
                resolve_surfaces();
                if (hit_) with_obstacle(obstacle.o.owner, g, hit_);
            });
        for (const UnitPair& pair : query_.unit_pairs) {
            alive_ = pair.table ? alive & bits(clearance(*pair.table, q) <= 0.0f) : alive;
            for (int k = pair.begin; alive_ && k < pair.end; ++k) {
                hit_ = 0;
                const Placement<FloatPack> T = relative_pose(k);
                const unsigned unresolved = check_pair(k, T, 0.0f);
                hit_ |= solids_touching(k, T, unresolved, 0.0f);
                if (hit_) with_pair(k, hit_);
            }
        }
    }

  protected:
    // Lanes in which the elements of a surface decide whether a sphere touches it.
    struct NearSurface {
        LaneSphere sphere;
        const SurfaceObstacle* surface;
        unsigned lanes;
    };
    static constexpr int max_near = 32;

    // Lanes in which the solids of a pair decide, because its spheres hardly overlap.
    struct UnresolvedPair {
        int pair, unit_pair;
        unsigned lanes;
    };

    int n_pairs() const { return static_cast<int>(query_.unit_pairs.size()); }
    int n_units() const { return static_cast<int>(query_.spheres().units.size()); }
    bool done() const { return any_ ? hit_ != 0 : (alive_ & ~hit_) == 0; }
    unsigned touching(FloatMask mask) const { return bits(mask) & alive_ & ~hit_; }

    FloatPack unit_width(int u) const {
        if (margins_.unit_lanes) return margins_.unit_lanes[u];
        return margins_.unit_width ? margins_.margin * margins_.unit_width[u] : FloatPack(0.0f);
    }
    FloatPack pair_width(int k) const {
        if (margins_.pair_lanes) return margins_.pair_lanes[k];
        return margins_.pair_width ? margins_.margin * margins_.pair_width[k] : FloatPack(0.0f);
    }

    void place_fixed(int body) {
        if (query_.moves[body]) return;
        const CollisionQuery::FixedPose& pose = query_.fixed_poses[body];
        const Mat3<float> R = mat(pose.R);
        placements_[body].R = {{R.x.x, R.x.y, R.x.z}, {R.y.x, R.y.y, R.y.z}, {R.z.x, R.z.y, R.z.z}};
        placements_[body].p = {pose.p[0], pose.p[1], pose.p[2]};
    }

    void place_bounding(int u) {
        const SphereUnit& unit = query_.spheres().units[u];
        bounding_[u] = sphere(unit.bounding, unit.body);
    }
    LaneSphere root(int g) const { return sphere(query_.spheres().root(g), query_.spheres().groups[g].body); }

    void place(const FloatPack* q) {
        for (int i : query_.moving_bodies) {
            const FloatBody& b = query_.bodies()[i];
            place_body(b, q, placements_[b.parent], placements_[i]);
        }
        for (int u : query_.checked_units) place_bounding(u);
    }

    LaneSphere sphere(const SphereNode& node, int body) const {
        const Placement<FloatPack>& at = placements_[body];
        return {at.p + at.R * vec(node.centre), node.r};
    }

    static LaneSphere widened(LaneSphere s, FloatPack width) { return {s.c, s.r + width}; }

    // Calls leaf(i, sphere) for the leaves of a group that touch something, in the lanes that matter.
    template <class Touches, class Leaf>
    void traverse(const SphereGroup& group, FloatPack width, Touches&& touches, Leaf&& leaf) {
        const SphereNode* nodes = query_.spheres().nodes.data();
        int i = group.begin;
        if (nodes[i].next > i + 1) ++i;  // the root has been tested
        while (i < group.end) {
            const LaneSphere s = widened(sphere(nodes[i], group.body), width);
            const unsigned hit = touching(touches(s));
            const bool is_leaf = nodes[i].next == i + 1;
            if (hit && is_leaf) {
                leaf(s, hit);
                if (done()) return;
            }
            i = hit ? i + 1 : nodes[i].next;
        }
    }

    template <class Obstacle>
    void check_obstacle(int g, FloatPack width, const Obstacle& obstacle) {
        if (!touching(obstacle.touches(widened(root(g), width)))) return;
        traverse(
            query_.spheres().groups[g], width, [&](const LaneSphere& s) { return obstacle.touches(s); },
            [&](const LaneSphere& s, unsigned hit) { add_contact(obstacle, s, hit); });
    }

    template <class Obstacle>
    void add_contact(const Obstacle&, const LaneSphere&, unsigned lanes) {
        hit_ |= lanes;
    }
    void add_contact(const SurfaceShape& surface, const LaneSphere& s, unsigned lanes) {
        const SurfaceContact contact = surface.contact(s, lanes);
        hit_ |= contact.certain;
        if (!contact.possible || done()) return;
        if (n_near_ == max_near) resolve_surfaces();
        near_[n_near_++] = {s, &surface.o, contact.possible};
    }

    // Compares with elements of surfaces, which takes long: only in lanes in which nothing else collides.
    void resolve_surfaces() {
        for (int i = 0; i < n_near_ && !done(); ++i) {
            const NearSurface& near = near_[i];
            if (const unsigned lanes = near.lanes & alive_ & ~hit_)
                hit_ |= SurfaceShape{*near.surface}.touched(near.sphere, lanes, any_);
        }
        n_near_ = 0;
    }

    // Calls f for each obstacle that a group may touch.
    template <class F>
    void for_obstacles(int g, F&& f) const {
        for_each_obstacle(query_.obstacles(), query_.near[g], f);
    }

    void check_unit(int u) {
        const SphereUnit& unit = query_.spheres().units[u];
        const FloatPack width = unit_width(u);
        const bool single = unit.groups.size() == 1;
        if (single || near_obstacles(u, width)) check_groups(unit, width);
    }

    void check_groups(const SphereUnit& unit, FloatPack width) {
        for (const int g : unit.groups)
            for_obstacles(g, [&](const auto& obstacle) {
                if (!done()) check_obstacle(g, width, obstacle);
            });
    }

    // Does the sphere around a unit touch any obstacle that concerns one of its groups?
    bool near_obstacles(int u, FloatPack width) const {
        const LaneSphere around = widened(bounding_[u], width);
        unsigned hit = 0;
        for_each_obstacle(query_.obstacles(), query_.unit_near[u], [&](const auto& obstacle) {
            if (!hit) hit = touching(obstacle.touches(around));
        });
        return hit != 0;
    }

    // Pose of body b in body a.
    Placement<FloatPack> relative(int a, int b) const {
        const Placement<FloatPack>&A = placements_[a], &B = placements_[b];
        const Mat3<FloatPack> Bt = {B.R.column(0), B.R.column(1), B.R.column(2)};
        const Mat3<FloatPack> columns = {tmul(A.R, Bt.x), tmul(A.R, Bt.y), tmul(A.R, Bt.z)};
        return {{columns.column(0), columns.column(1), columns.column(2)}, tmul(A.R, B.p - A.p)};
    }

    Placement<FloatPack> relative_pose(int pair) const {
        const auto& groups = query_.spheres().groups;
        return relative(groups[query_.pairs[pair].a].body, groups[query_.pairs[pair].b].body);
    }

    // A table decides most lanes of the pairs that it covers; spheres decide the others.
    void check_unit_pair(int index, const FloatPack* q) {
        const UnitPair& pair = query_.unit_pairs[index];
        const FloatPack width = pair_width(index);
        const unsigned all = alive_;
        if (pair.table) {
            const FloatPack distance = clearance(*pair.table, q);
            hit_ |= touching(distance <= ClearanceTable::colliding);
            alive_ &= bits(distance <= width);
        }
        if (touching(overlap(widened(bounding_[pair.a], width), bounding_[pair.b]))) check_pairs(index, width);
        alive_ = all;
    }

    void check_pairs(int index, FloatPack width) {
        const UnitPair& pair = query_.unit_pairs[index];
        const Placement<FloatPack> T =
            relative(query_.spheres().units[pair.a].body, query_.spheres().units[pair.b].body);
        for (int k = pair.begin; k < pair.end && !done(); ++k)
            if (const unsigned unresolved = check_pair(k, T, width))
                unresolved_[n_unresolved_++] = {k, index, unresolved};
    }

    // Compares solids, which takes long: only in lanes in which nothing else collides.
    void resolve(const UnresolvedPair& pair) {
        const unsigned lanes = pair.lanes & ~hit_;
        if (lanes) hit_ |= solids_touching(pair.pair, relative_pose(pair.pair), lanes, pair_width(pair.unit_pair));
    }

    unsigned solids_touching(int pair, const Placement<FloatPack>& T, unsigned lanes, FloatPack width) const {
        const float* poses = reinterpret_cast<const float*>(&T);
        unsigned found = 0;
        for (; lanes; lanes &= lanes - 1) {
            const int lane = __builtin_ctz(lanes);
            float pose[12];
            for (int k = 0; k < 12; ++k) pose[k] = poses[k * float_lanes + lane];
            if (query_.solids_touch(pair, pose, width[lane])) found |= 1u << lane;
            if (any_ && found) break;
        }
        return found;
    }

    // Marks lanes in which the spheres of a pair collide. Returns further lanes, in which its solids may collide.
    // T is the pose of the second body in the first.
    unsigned check_pair(int pair, const Placement<FloatPack>& T, FloatPack width) {
        const float slack = query_.slacks[pair];
        if (slack <= 0.0f) return check_spheres(pair, T, width), 0;
        const unsigned before = hit_, alive = alive_;
        const bool any = any_;
        any_ = false;
        check_spheres(pair, T, width);
        any_ = any;
        const unsigned near = hit_ & ~before;
        hit_ = before;
        if (!near) return 0;
        alive_ = near;
        check_spheres<true>(pair, T, width - slack);
        alive_ = alive;
        return near & ~hit_;
    }

    // Descends both trees at once, expanding the larger of two spheres that touch. Coordinates are in the body of the
    // first. `shrinks`: the width may be negative.
    template <bool shrinks = false>
    void check_spheres(int pair, const Placement<FloatPack>& T, FloatPack width) {
        const SphereNode* nodes = query_.spheres().nodes.data();
        const SphereGroup &first = query_.spheres().groups[query_.pairs[pair].a],
                          &second = query_.spheres().groups[query_.pairs[pair].b];
        const auto touch = [&](int i, const Vec3<FloatPack>& c, FloatPack r) {
            const Vec3<FloatPack> d = c - vec(nodes[i].centre);
            const FloatPack reach = shrinks ? positive_part(r + nodes[i].r) : r + nodes[i].r;
            return touching(dot(d, d) <= square(reach));
        };
        const auto centre = [&](int j) { return T.p + T.R * vec(nodes[j].centre); };
        const auto is_leaf = [&](int i) { return nodes[i].next == i + 1; };
        if (!touch(first.begin, centre(second.begin), width + nodes[second.begin].r)) return;
        int n = 0;
        stack_[n++] = {first.begin, second.begin};
        while (n > 0) {
            const auto [i, j] = stack_[--n];
            if (is_leaf(j) || (!is_leaf(i) && nodes[i].r > nodes[j].r)) {
                const Vec3<FloatPack> c = centre(j);
                const FloatPack r = width + nodes[j].r;
                for (int k = is_leaf(i) ? i : i + 1; k < nodes[i].next; k = nodes[k].next)
                    if (const unsigned hit = touch(k, c, r)) n = descend({k, j}, is_leaf(k) && is_leaf(j), hit, n);
            } else {
                for (int k = j + 1; k < nodes[j].next; k = nodes[k].next)
                    if (const unsigned hit = touch(i, centre(k), width + nodes[k].r))
                        n = descend({i, k}, is_leaf(i) && is_leaf(k), hit, n);
            }
            if (done()) return;
        }
    }

    // Two spheres touch: leaves collide, others are visited later. Returns the size of the stack.
    int descend(SphereModel::Pair nodes, bool leaves, unsigned hit, int n) {
        if (leaves)
            hit_ |= hit;
        else
            stack_[n++] = nodes;
        return n;
    }

    const CollisionQuery& query_;
    Placement<FloatPack>* placements_;
    LaneSphere* bounding_;  // of the units
    UnresolvedPair* unresolved_;
    int n_unresolved_ = 0;
    NearSurface near_[max_near];
    int n_near_ = 0;
    int* order_;  // of the tests: numbers of unit pairs, then of units
    int n_tests_ = 0;
    SphereModel::Pair
        stack_[256];  // of nodes: a level of the two trees adds three at most, and there are 2 * 15 of them
    Margins margins_;
    unsigned alive_ = 0, hit_ = 0;
    bool any_ = false;
};

}  // namespace kinodyn::KINODYN_TARGET
