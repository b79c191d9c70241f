#include "core/clearance_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/collision.hpp"
#include "core/interrupts.hpp"
#include "core/surface_distance.hpp"

namespace kinodyn {

namespace {

constexpr double far = 0.015;       // [m] beyond which distances need not be accurate
constexpr double enough = far / 3;  // [m] lower bound of a block that is not divided for a better one
constexpr double tolerance = 1e-3;  // [m] of distances
constexpr int small = 4;            // cells along an axis of a block in which distances are accurate enough
constexpr double coarse = 0.15;     // [m] movement within a block that is divided before shapes are compared
constexpr double rounding = 3e-5;   // [m] of poses in float32
constexpr double bound = far + tolerance + 2 * rounding;  // [m] of distances: what is beyond it is beyond `far`
constexpr int max_subdivisions = 2;  // how often a cell is halved where its shapes are near each other
// [m] Where spheres overlap by more than this, shapes are assumed to collide: without exact checks, and next to
// configurations in which they do.
constexpr double certain_depth = 0.04, certain_depth_near_collision = 0.015;

constexpr int n_axes = ClearanceTable::max_axes;
using Axes = TableAxis[n_axes];
using Widths = double[n_axes];

class Filler {
  public:
    Filler(const CollisionQuery& query, int pair, const Axes& axis, SurfaceDistance& surfaces)
        : robot_(query.robot()), surfaces_(surfaces), q_(query.q) {
        std::size_t count = 1;
        for (int k = 0; k < n_axes; ++k) axis_[k] = axis[k], count *= static_cast<std::size_t>(axis[k].count);
        cells_.resize(count);
        const int a = query.pairs[pair].a, b = query.pairs[pair].b;
        bodies_[0] = query.spheres().groups[a].body, bodies_[1] = query.spheres().groups[b].body;
        leaves_[0] = leaves(query.spheres(), a), leaves_[1] = leaves(query.spheres(), b);
        for (int k = 0; k < n_axes; ++k) {
            if (axis_[k].iq < 0) continue;
            for (const Body& body : robot_.bodies)
                if (body.iq == axis_[k].iq && body.kind < Kind::Ball) sweep_[k] = query.pair_sweep(pair)[body.iv];
        }
    }

    std::vector<float> fill() {
        Range all{};
        for (int k = 0; k < n_axes; ++k) all.end[k] = axis_[k].count;
        visit(all);
        return std::move(cells_);
    }

  private:
    struct Range {
        int begin[n_axes], end[n_axes];
        int count(int k) const { return end[k] - begin[k]; }
        bool at_most(int n) const {
            return std::all_of(begin, begin + n_axes,
                               [&](const int& b) { return count(static_cast<int>(&b - begin)) <= n; });
        }
    };

    static std::vector<Ball> leaves(const SphereModel& spheres, int group) {
        std::vector<Ball> found;
        for (int i = spheres.groups[group].begin; i < spheres.groups[group].end; ++i) {
            const SphereNode& node = spheres.nodes[i];
            if (node.next == i + 1) found.push_back({{node.centre[0], node.centre[1], node.centre[2]}, node.r});
        }
        return found;
    }

    // Pose of the second body in the first, and the joints between them, which move by `half` of a block's coordinates.
    Transform pose(const Widths& half) {
        int a = bodies_[0], b = bodies_[1];
        Transform from, to;
        std::vector<Transform> first_axes, second_axes;  // the last body of each side in frames of the joints
        std::vector<int> first_joints, second_joints;
        while (a != b) {
            int& last = a > b ? a : b;  // parents have lower indices
            Transform& chain = a > b ? from : to;
            (a > b ? first_axes : second_axes).push_back(chain);
            (a > b ? first_joints : second_joints).push_back(last);
            chain = compose(joint_transform(robot_.bodies[last], q_.data()), chain);
            last = robot_.bodies[last].parent;
        }
        const Transform T = relative(from, to);
        spans_.clear();
        for (std::size_t k = 0; k < second_joints.size(); ++k)
            add_span(second_joints[k], compose(T, relative(second_axes[k], Transform{})), half);
        for (std::size_t k = first_joints.size(); k-- > 0;)
            add_span(first_joints[k], relative(first_axes[k], Transform{}), half);
        return T;
    }

    // `T`: the frame of the joint in the first body.
    void add_span(int joint, const Transform& T, const Widths& half) {
        const Body& body = robot_.bodies[joint];
        const bool slides = body.kind == Kind::Prismatic;
        const int column = slides ? 0 : std::min(static_cast<int>(body.kind), 2);
        double amount = 0;
        for (int k = 0; k < n_axes; ++k)
            if (axis_[k].iq == body.iq) amount = std::fabs(body.scale) * half[k];
        spans_.push_back({{T.p[0], T.p[1], T.p[2]}, {T.R[column], T.R[3 + column], T.R[6 + column]}, slides, amount});
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

    // How far the parts of a pair move towards each other along each axis within `half` of the coordinates, at most.
    double movement(const Widths& half) const {
        double sum = rounding;
        for (int k = 0; k < n_axes; ++k) sum += half[k] * sweep_[k];
        return sum;
    }

    int longest(const Widths& half) const {
        int longest = 0;
        for (int k = 1; k < n_axes; ++k)
            if (half[k] * sweep_[k] > half[longest] * sweep_[longest]) longest = k;
        return longest;
    }

    // A cell, or a block of them that can be decided at once or must be divided.
    void visit(const Range& r) {
        poll_interrupt();
        Widths half;
        for (int k = 0; k < n_axes; ++k) {
            half[k] = 0.5 * r.count(k) * axis_[k].step;
            if (axis_[k].iq >= 0) q_[axis_[k].iq] = axis_[k].low + 0.5 * (r.begin[k] + r.end[k]) * axis_[k].step;
        }
        const double width = movement(half);  // radius of motion of the block about its centre
        const Transform T = pose(half);
        const double spheres = sphere_distance(T);
        if (spheres + width < -certain_depth) return set(r, ClearanceTable::colliding);
        double free = spheres - width;  // a lower bound in the whole block
        if (free < far && width < coarse) {
            const double distance = surfaces_.clearance(T, spans_, bound, tolerance) - rounding;
            if (distance <= 0 && spheres + width < -certain_depth_near_collision && within(T, tolerance))
                return set(r, ClearanceTable::colliding);
            if (distance > free && !(spheres < 0 && surfaces_.nested(T))) free = distance;
        }
        if (free > (r.at_most(small) ? 0 : enough)) return set_distances(r, free, spheres);
        if (!r.at_most(1)) return divide(r, half);
        const double found = halved(half, max_subdivisions);
        if (found > 0) return set(r, static_cast<float>(found));
        set(r, spheres + width < 0 ? ClearanceTable::colliding : ClearanceTable::undecided);
    }

    bool within(const Transform& T, double distance) { return surfaces_.distance(T, 2 * distance, distance) <= 0; }

    // A lower bound about q_ within `half` of the coordinates, by halving them up to `depth` times; 0 if there is none.
    double subdivided(const Widths& half, int depth) {
        const Transform T = pose(half);
        const double free = surfaces_.clearance(T, spans_, bound, tolerance) - rounding;
        if (free > 0) return surfaces_.nested(T) ? 0 : free;
        return halved(half, depth);
    }

    double halved(const Widths& half, int depth) {
        if (depth == 0 || within(pose(half), 1.5 * tolerance)) return 0;
        const int k = longest(half);
        Widths part;
        std::copy(half, half + n_axes, part);
        part[k] *= 0.5;
        double smallest = far;
        double& coordinate = q_[axis_[k].iq];
        const double centre = coordinate;
        for (int side : {-1, 1}) {
            coordinate = centre + side * part[k];
            smallest = std::min(smallest, subdivided(part, depth - 1));
            if (smallest <= 0) break;
        }
        coordinate = centre;
        return smallest;
    }

    // Along the axis on which most is moved, of those with several cells.
    void divide(const Range& r, const Widths& half) {
        Widths several{};
        for (int k = 0; k < n_axes; ++k)
            if (r.count(k) > 1) several[k] = half[k];
        int k = longest(several);
        while (r.count(k) < 2) ++k;
        Range low = r, high = r;
        low.end[k] = high.begin[k] = (r.begin[k] + r.end[k]) / 2;
        visit(low), visit(high);
    }

    template <class Value>
    void for_cells(const Range& r, Value&& value) {
        static_assert(n_axes == 2);
        for (int i = r.begin[0]; i < r.end[0]; ++i)
            for (int j = r.begin[1]; j < r.end[1]; ++j)
                cells_[static_cast<std::size_t>(i) * axis_[1].count + j] = static_cast<float>(value({i, j}));
    }

    void set(const Range& r, float value) {
        for_cells(r, [&](const std::array<int, n_axes>&) { return value; });
    }

    // Lower bounds of cells: that of their block, or from the distance of the spheres at its centre.
    void set_distances(const Range& r, double free, double spheres) {
        for_cells(r, [&](const std::array<int, n_axes>& cell) {
            double moved_by = rounding;
            for (int k = 0; k < n_axes; ++k)
                moved_by +=
                    (std::fabs(cell[k] + 0.5 - 0.5 * (r.begin[k] + r.end[k])) + 0.5) * axis_[k].step * sweep_[k];
            return std::max(free, spheres - moved_by);
        });
    }

    const Model& robot_;
    Axes axis_;
    SurfaceDistance& surfaces_;
    std::vector<double> q_;
    std::vector<JointSpan> spans_;
    std::vector<float> cells_;
    int bodies_[2];
    std::vector<Ball> leaves_[2];
    Widths sweep_ = {};
};

}  // namespace

std::vector<float> clearances(const CollisionQuery& query, int pair, const Axes& axis, SurfaceDistance& surfaces) {
    return Filler(query, pair, axis, surfaces).fill();
}

}  // namespace kinodyn
