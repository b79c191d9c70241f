// Motion planning with constraints along the path, and the state of a search, which continues from call to call.
#pragma once

#include <cstdint>
#include <vector>

#include "core/collision.hpp"
#include "planning/problem.hpp"

namespace kinodyn {

enum class ConstraintKind : std::int32_t { Pose, Com };
constexpr auto codes_of(ConstraintKind) {
    return codes("path_constraint_kind", code("pose", ConstraintKind::Pose), code("com", ConstraintKind::Com));
}

// How the rotation from the region to the frame is bounded: by its angle, or by each of three numbers.
enum class RotationBound : std::int32_t { Angle, EulerXyz, RotationVector };
constexpr auto codes_of(RotationBound) {
    using B = RotationBound;
    return codes("rotation_bound", code("angle", B::Angle), code("xyz", B::EulerXyz),
                 code("rotation_vector", B::RotationVector));
}

// The region of the point.
enum class RegionShape : std::int32_t { Box, Cylinder, Sphere };
constexpr auto codes_of(RegionShape) {
    using S = RegionShape;
    return codes("region_shape", code("box", S::Box), code("cylinder", S::Cylinder), code("sphere", S::Sphere));
}

// A task space region for a point and the axes of a frame, relative to a reference frame; or a half-space of the CoM.
// Vertices of a path are inside of the region; between them it may be violated by the tolerances.
struct PathConstraint {
    double region_R[9], region_p[3];                   // pose of the region in the reference
    double point[3];                                   // of the frame
    double lower[3], upper[3];                         // of the point, along the axes of the region [m]; infinite: free
    double axis[3];                                    // of the frame, for AxisOnly; of the CoM: normal . com <= offset
    double offset;                                     // [m]
    double angle;                                      // largest rotation from the region, infinite: free [rad]
    double angles[3];                                  // the largest of each number, by `rotation_bound` [rad]
    double radius;                                     // of a sphere, or of a cylinder along z [m]
    double position_tolerance, orientation_tolerance;  // [m], [rad]
    ConstraintKind kind;
    std::int32_t frame, reference;  // -1: the world
    std::int32_t axis_only;         // the angle is that between `axis` and z of the region; turns about z are free
    RotationBound rotation_bound;
    RegionShape region_shape;

    static constexpr auto layout() {
        using C = PathConstraint;
        return named("path_constraint", field<3, 3>("region_R", &C::region_R), field("region_p", &C::region_p),
                     field("point", &C::point), field("lower", &C::lower), field("upper", &C::upper),
                     field("axis", &C::axis), field("offset", &C::offset), field("angle", &C::angle),
                     field("angles", &C::angles), field("radius", &C::radius),
                     field("position_tolerance", &C::position_tolerance),
                     field("orientation_tolerance", &C::orientation_tolerance), field("kind", &C::kind),
                     field("frame", &C::frame), field("reference", &C::reference), field("axis_only", &C::axis_only),
                     field("rotation_bound", &C::rotation_bound), field("region_shape", &C::region_shape));
    }
};

// Constraints and the joints that may move to satisfy them.
struct ConstraintTable {
    static constexpr int rows_of_pose = 6;

    const Model& model;
    std::vector<PathConstraint> constraints;
    std::vector<double> free;          // by v index: 1 if it moves, otherwise 0
    std::vector<double> lower, upper;  // of q
    struct Dof {
        int iq, iv;
    };
    std::vector<Dof> dofs;             // of moving joints with one coordinate
    std::vector<int> manifold_bodies;  // whose joints are ball or free joints that move
    long max_rows = 0;
    bool has_com = false;

    ConstraintTable(const Model& robot, std::vector<PathConstraint> given, const std::vector<char>& moves,
                    std::vector<double> low, std::vector<double> high);
};

struct ConstrainedSettings {
    double step;        // longest motion between neighbouring vertices: L2 norm over the degrees of freedom
    double range;       // longest extension of a tree
    double resolution;  // a motion is divided for continuous checks until spheres move less than this [m]
    double spread;      // standard deviation of samples near the ends, as a fraction of the range of each joint
    std::int32_t shortcut_failures;  // attempts in a row without success that end the search for shortcuts
    std::int32_t max_iterations;     // of the projection of a step

    static constexpr auto layout() {
        using S = ConstrainedSettings;
        return named("constrained_planner", field("step", &S::step), field("range", &S::range),
                     field("resolution", &S::resolution), field("spread", &S::spread),
                     field("shortcut_failures", &S::shortcut_failures), field("max_iterations", &S::max_iterations));
    }
};

// A tree of configurations; the distance of nodes is that of `ConstrainedProblem::coordinates`.
class ConfigurationTree {
  public:
    ConfigurationTree(int nq, int dim) : table(dim), nq_(nq) {}
    int add(const double* q, const float* joints, int parent);
    const double* q(int node) const { return q_.data() + static_cast<std::size_t>(node) * nq_; }
    NodeTable table;

  private:
    std::size_t nq_;
    std::vector<double> q_;
};

struct ConstrainedProblem {
    ConstrainedProblem(const CollisionQuery& query, const ConstraintTable& constraints,
                       const ConstrainedSettings& settings, std::uint64_t seed, bool samples_manifold);
    static int dimension(const ConstraintTable& table, bool samples_manifold);
    void set_start(const double* start);
    void add_goals(const double* goals, int n_goals);
    // Makes the path through two nodes where the trees meet.
    void join(int start_node, int goal_node);
    // Replaces the vertices between `first` and `last` by n others.
    void replace(int first, int last, const double* vertices, int n);

    const CollisionQuery& query;
    const ConstraintTable& table;
    ConstrainedSettings settings;
    // Whether ball and free joints are sampled; otherwise projection onto the constraints determines them.
    bool samples_manifold;
    int nq, dim;
    std::vector<double> lower, upper;  // bounds of the samples, by joint with one coordinate
    ConfigurationTree start_tree, goal_tree;
    std::uint64_t random_state;
    long iterations = 0, steps = 0, max_iterations = 1L << 62;
    std::vector<int> new_goals;  // nodes of the goal tree that are not yet tried from the start
    double seconds = 0;          // limit of the next call
    double deadline = 1e300;     // by steady_time, at which extensions are cut off
    bool solved = false;
    std::vector<double> path;  // (n, nq)

    // Coordinates (dim,) of a configuration by whose L2 norm nodes are compared: joints with one coordinate, and where
    // others are sampled too, positions, and rotation matrices so scaled that small angles count as such.
    void coordinates(const double* q, float* out) const;

    int path_size() const { return static_cast<int>(path.size()) / nq; }
    const double* vertex(int i) const {
        return path.data() + static_cast<std::size_t>(i) * static_cast<std::size_t>(nq);
    }

  private:
    int add_root(ConfigurationTree& tree, const double* q);
};

}  // namespace kinodyn
