// Nearest spheres of pairs of links at several configurations at once, one in each lane.
//
// The same branch and bound as in sphere_distance.hpp. Configurations that follow each other in time are nearly the
// same, so that their searches visit nearly the same nodes: a node is visited if it could be nearer in any lane. In
// float32, as the spheres: positions are measured from the first body, and exact to less than a micrometre.
#pragma once

#include "core/distance.hpp"
#include "kernels/float_pack.hpp"
#include "kernels/world.hpp"

namespace kinodyn::KINODYN_TARGET {

// The nearest spheres of a pair, lane by lane.
struct NearestSpheres {
    FloatPack distance;       // [m]; on entry bounds, beyond which nothing is searched
    FloatMask first, second;  // nodes, -1 if none is nearer than the bound
};

class PackDistances {
  public:
    static long words(const DistanceQuery& query) {
        return 3 * static_cast<long>(query.spheres().groups.size() + query.spheres().units.size());
    }
    PackDistances(const DistanceQuery& query, FloatPack* memory)
        : query_(query),
          nodes_(query.spheres().nodes.data()),
          roots_(reinterpret_cast<Vec3<FloatPack>*>(memory)),
          units_(roots_ + query.spheres().groups.size()) {}

    // Takes the poses of all bodies, measured from `origin`.
    void place(const Placement<FloatPack>* at, const Vec3<FloatPack>& origin) {
        at_ = at, origin_ = origin;
        const auto& groups = query_.spheres().groups;
        for (std::size_t g = 0; g < groups.size(); ++g) roots_[g] = seen(body(groups[g].body), nodes_[groups[g].begin]);
        const auto& units = query_.spheres().units;
        for (std::size_t u = 0; u < units.size(); ++u) units_[u] = seen(body(units[u].body), units[u].bounding);
    }

    // Could spheres of two units be nearer than `bound` [m] in any lane?
    bool units_may_be_nearer(int a, int b, const FloatPack& bound) const {
        const auto& units = query_.spheres().units;
        const Vec3<FloatPack> d = units_[a] - units_[b];
        return is_near(dot(d, d), units[a].bounding.r + units[b].bounding.r, bound);
    }

    // Could spheres of a pair be nearer than `bound` [m] in any lane?
    bool may_be_nearer(int pair, const FloatPack& bound) const {
        const auto [a, b] = query_.pairs[static_cast<std::size_t>(pair)];
        const Vec3<FloatPack> d = roots_[a] - roots_[b];
        return is_near(dot(d, d), query_.spheres().root(a).r + query_.spheres().root(b).r, bound);
    }

    // Improves the nearest spheres of a pair. `first` and `second` are spheres that may be near, -1 if none are known.
    void improve(int pair, int first, int second, NearestSpheres& best) const {
        const auto [a, b] = query_.pairs[static_cast<std::size_t>(pair)];
        const Placement<FloatPack> T =
            relative(body(query_.spheres().groups[a].body), body(query_.spheres().groups[b].body));
        const auto centre = [&](int j) { return seen(T, nodes_[j]); };
        if (first >= 0) accept(first, second, square(first, centre(second)), best);
        Visit stack[max_stack];
        int n = 0;
        const int root_a = query_.spheres().groups[a].begin, root_b = query_.spheres().groups[b].begin;
        push(stack, n, root_a, root_b, centre(root_b), best);
        while (n > 0) {
            const Visit top = stack[--n];
            if (!is_near(top.square, radii(top.i, top.j), best.distance)) continue;
            const int begin = n;
            if (is_leaf(top.j) || (!is_leaf(top.i) && nodes_[top.i].r > nodes_[top.j].r)) {
                const Vec3<FloatPack> c = centre(top.j);
                for (int i = top.i + 1; i < nodes_[top.i].next; i = nodes_[i].next) push(stack, n, i, top.j, c, best);
            } else {
                for (int j = top.j + 1; j < nodes_[top.j].next; j = nodes_[j].next)
                    push(stack, n, top.i, j, centre(j), best);
            }
            nearest_last(stack + begin, stack + n);
        }
    }

    // Centre of a sphere in one lane, from the origin.
    Vec3<double> centre(int group, int node, int lane) const {
        const Vec3<FloatPack> c = seen(body(query_.spheres().groups[group].body), nodes_[node]);
        return {c.x[lane], c.y[lane], c.z[lane]};
    }
    // From the centre of the second group to that of the first, in one lane.
    Vec3<double> between(int first, int second, int lane) const {
        const Vec3<FloatPack> d = roots_[first] - roots_[second];
        return {d.x[lane], d.y[lane], d.z[lane]};
    }

  private:
    struct Visit {
        int i, j;
        float order;
        FloatPack square;  // of the distance of centres
    };
    static constexpr int max_stack = 256;  // as in sphere_distance.hpp

    bool is_leaf(int i) const { return nodes_[i].next == i + 1; }
    static Vec3<FloatPack> seen(const Placement<FloatPack>& T, const SphereNode& node) {
        return T.p + T.R * Vec3<float>{node.centre[0], node.centre[1], node.centre[2]};
    }
    Placement<FloatPack> body(int index) const {
        if (index >= 0) return at_[index];
        Placement<FloatPack> fixed = kinodyn::KINODYN_TARGET::world<FloatPack>();
        fixed.p = -origin_;
        return fixed;
    }
    static Placement<FloatPack> relative(const Placement<FloatPack>& A, const Placement<FloatPack>& B) {
        const Mat3<FloatPack> Bt = {B.R.column(0), B.R.column(1), B.R.column(2)};
        const Mat3<FloatPack> columns = {tmul(A.R, Bt.x), tmul(A.R, Bt.y), tmul(A.R, Bt.z)};
        return {{columns.column(0), columns.column(1), columns.column(2)}, tmul(A.R, B.p - A.p)};
    }

    // Are spheres with this distance of centres, squared, nearer than `bound` in any lane?
    static bool is_near(const FloatPack& square, float radii, const FloatPack& bound) {
        const FloatPack reach = positive_part(bound + radii);
        return bits(square < reach * reach) != 0;
    }
    float radii(int i, int j) const { return nodes_[i].r + nodes_[j].r; }
    FloatPack square(int i, const Vec3<FloatPack>& c) const {
        const Vec3<FloatPack> d = {c.x - nodes_[i].centre[0], c.y - nodes_[i].centre[1], c.z - nodes_[i].centre[2]};
        return dot(d, d);
    }
    // Takes two leaves where they are nearer than the best.
    void accept(int i, int j, const FloatPack& square, NearestSpheres& best) const {
        const FloatPack distance = root(square) - radii(i, j);
        const FloatMask nearer = distance < best.distance;
        best.distance = select(nearer, distance, best.distance);
        best.first = nearer ? FloatMask{} + i : best.first, best.second = nearer ? FloatMask{} + j : best.second;
    }
    // Visits nodes later if they may be nearer than the best; c is the centre of node j.
    void push(Visit* stack, int& n, int i, int j, const Vec3<FloatPack>& c, NearestSpheres& best) const {
        const FloatPack d2 = square(i, c);
        if (!is_near(d2, radii(i, j), best.distance)) return;
        if (is_leaf(i) && is_leaf(j))
            accept(i, j, d2, best);
        else
            stack[n++] = {i, j, __builtin_sqrtf(d2[0]) - radii(i, j), d2};
    }
    // Sorts the last entries of a stack so that the nearest, in the first lane, is on top.
    static void nearest_last(Visit* begin, Visit* end) {
        for (Visit* k = begin + 1; k < end; ++k)
            for (Visit* m = k; m > begin && (m - 1)->order < m->order; --m) {
                const Visit other = *m;
                *m = *(m - 1), *(m - 1) = other;
            }
    }

    const DistanceQuery& query_;
    const SphereNode* const nodes_;
    Vec3<FloatPack>*const roots_, *const units_;  // centres of the bounding spheres of groups and units
    const Placement<FloatPack>* at_ = nullptr;
    Vec3<FloatPack> origin_;
};

}  // namespace kinodyn::KINODYN_TARGET
