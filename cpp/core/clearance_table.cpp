#include "core/clearance_table.hpp"

#include <cmath>

#include "core/collision.hpp"

namespace kinodyn {

namespace {

constexpr double far = 0.015;       // [m] beyond which distances need not be accurate
constexpr double tolerance = 1e-3;  // [m] of distances
constexpr int small = 4;            // cells along an axis of a block in which distances are accurate enough
constexpr double coarse = 0.04;     // [m] movement within a block that is divided before shapes are compared
constexpr double rounding = 3e-5;   // [m] of poses in float32
// [m] Where spheres overlap by more than this, shapes are assumed to collide: without exact checks, and next to
// configurations in which they do.
constexpr double deep = 0.04, deep_near_collision = 0.015;

class Filler {
  public:
    Filler(const CollisionQuery& query, int pair, const TableAxis (&axis)[2], SurfaceDistance& surfaces)
        : robot_(query.robot()),
          axis_{axis[0], axis[1]},
          surfaces_(surfaces),
          q_(query.q),
          cells_(static_cast<std::size_t>(axis[0].count) * static_cast<std::size_t>(axis[1].count)) {
        const int a = query.pairs[pair].a, b = query.pairs[pair].b;
        bodies_[0] = query.spheres().groups[a].body, bodies_[1] = query.spheres().groups[b].body;
        leaves_[0] = leaves(query.spheres(), a), leaves_[1] = leaves(query.spheres(), b);
        for (int k = 0; k < 2; ++k) {
            if (axis_[k].iq < 0) continue;
            for (const Body& body : robot_.bodies)
                if (body.iq == axis_[k].iq && body.kind < Kind::Ball) sweep_[k] = query.pair_sweep(pair)[body.iv];
        }
    }

    std::vector<float> fill() {
        visit({0, axis_[0].count, 0, axis_[1].count});
        return std::move(cells_);
    }

  private:
    struct Range {
        int begin0, end0, begin1, end1;
    };

    static std::vector<Ball> leaves(const SphereModel& spheres, int group) {
        std::vector<Ball> found;
        for (int i = spheres.groups[group].begin; i < spheres.groups[group].end; ++i) {
            const SphereNode& node = spheres.nodes[i];
            if (node.next == i + 1) found.push_back({{node.centre[0], node.centre[1], node.centre[2]}, node.r});
        }
        return found;
    }

    // Pose of the second body in the first.
    Transform pose() const {
        int a = bodies_[0], b = bodies_[1];
        Transform from, to;
        while (a != b) {
            int& last = a > b ? a : b;  // parents have lower indices
            Transform& chain = a > b ? from : to;
            chain = compose(joint_transform(robot_.bodies[last], q_.data()), chain);
            last = robot_.bodies[last].parent;
        }
        return relative(from, to);
    }

    double sphere_distance(const Transform& T) const {
        double smallest = 1e300;
        for (const Ball& b : leaves_[1]) {
            const Vec3 c = moved(T, b.centre);
            for (const Ball& a : leaves_[0]) {
                const double reach = smallest + a.radius + b.radius, d2 = squared(c - a.centre);
                if (reach > 0 && d2 < reach * reach) smallest = std::sqrt(d2) - a.radius - b.radius;
            }
        }
        return smallest;
    }

    double surface_distance(const Transform& T, double spheres, double bound) {
        const double found = surfaces_.distance(T, bound, tolerance);
        return found > 0 && spheres < 0 && surfaces_.nested(T) ? 0 : found;
    }

    // A cell, or a block of them that can be decided at once or must be divided.
    void visit(const Range& r) {
        const int begin[2] = {r.begin0, r.begin1}, end[2] = {r.end0, r.end1};
        double moved_by[2];
        for (int k = 0; k < 2; ++k) {
            moved_by[k] = 0.5 * (end[k] - begin[k]) * axis_[k].step * sweep_[k];
            if (axis_[k].iq >= 0) q_[axis_[k].iq] = axis_[k].low + 0.5 * (begin[k] + end[k]) * axis_[k].step;
        }
        const double width = moved_by[0] + moved_by[1] + rounding;  // radius of motion of the block about its centre
        const Transform T = pose();
        const double spheres = sphere_distance(T);
        if (spheres + width < -deep) return set(r, ClearanceTable::colliding);
        double distance = spheres;
        const bool compared = spheres - width < far && width < coarse;
        if (compared) distance = std::max(distance, surface_distance(T, spheres, far + width));
        if (compared && distance <= 0 && spheres + width < -deep_near_collision)
            return set(r, ClearanceTable::colliding);
        const bool is_small = end[0] - begin[0] <= small && end[1] - begin[1] <= small;
        if (distance - width >= (is_small ? 0 : far)) return set_distances(r, distance);
        if (end[0] - begin[0] == 1 && end[1] - begin[1] == 1)
            return set(r, spheres + width < 0 ? ClearanceTable::colliding : ClearanceTable::undecided);
        divide(r, end[1] - begin[1] == 1 || (end[0] - begin[0] > 1 && moved_by[0] > moved_by[1]));
    }

    void divide(const Range& r, bool along_first) {
        Range low = r, high = r;
        if (along_first)
            low.end0 = high.begin0 = (r.begin0 + r.end0) / 2;
        else
            low.end1 = high.begin1 = (r.begin1 + r.end1) / 2;
        visit(low), visit(high);
    }

    float& cell(int i, int k) { return cells_[static_cast<std::size_t>(i) * axis_[1].count + k]; }

    void set(const Range& r, float value) {
        for (int i = r.begin0; i < r.end0; ++i)
            for (int k = r.begin1; k < r.end1; ++k) cell(i, k) = value;
    }

    // Lower bounds of cells, from the distance at the centre of their block.
    void set_distances(const Range& r, double distance) {
        const auto farthest = [&](int axis, int i, int begin, int end) {
            const double offset = std::fabs(i + 0.5 - 0.5 * (begin + end)) + 0.5;
            return offset * axis_[axis].step * sweep_[axis];
        };
        for (int i = r.begin0; i < r.end0; ++i)
            for (int k = r.begin1; k < r.end1; ++k)
                cell(i, k) = static_cast<float>(distance - rounding - farthest(0, i, r.begin0, r.end0) -
                                                farthest(1, k, r.begin1, r.end1));
    }

    const Model& robot_;
    TableAxis axis_[2];
    SurfaceDistance& surfaces_;
    std::vector<double> q_;
    std::vector<float> cells_;
    int bodies_[2];
    std::vector<Ball> leaves_[2];
    double sweep_[2] = {0, 0};
};

}  // namespace

std::vector<float> clearances(const CollisionQuery& query, int pair, const TableAxis (&axis)[2],
                              SurfaceDistance& surfaces) {
    return Filler(query, pair, axis, surfaces).fill();
}

}  // namespace kinodyn
