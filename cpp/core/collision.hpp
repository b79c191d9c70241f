// Collision geometry as the kernels read it: the spheres of a robot, the obstacles of a world, and a query, which joins
// the two for a choice of moving joints.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/clearance_table.hpp"
#include "core/model.hpp"
#include "core/surface.hpp"
#include "core/surface_distance.hpp"

namespace kinodyn {

// Spheres in a tree that is traversed from the first to the last: the children of a sphere, which it contains, come
// right after it; where it touches nothing, the traversal goes on at `next`. Leaves have next = own index + 1.
struct SphereNode {
    float centre[3], r;
    int next;
};

// The spheres of one link, or of one attached object: a tree whose root is at `begin` and contains all of them.
struct SphereGroup {
    int body;  // -1: fixed in the world
    int begin, end;
};

// Groups that are fixed to each other, with a common bounding sphere: one test instead of several at a distance.
struct SphereUnit {
    int body;
    std::vector<int> groups;
    SphereNode bounding;
};

// The spheres of a robot. The leaves contain its links; radii include the rounding of float32.
struct SphereModel {
    std::vector<SphereGroup> groups;
    std::vector<SphereNode> nodes;
    std::vector<SphereUnit> units;
    struct Pair {
        int a, b;
    };
    std::vector<Pair> pairs;       // of groups that must not touch
    std::vector<int> pair_tables;  // table of each pair, or -1
    std::vector<ClearanceTable> tables;
    // [m] by how much spheres of each pair may overlap although its solids are apart: up to this overlap the solids
    // decide, beyond it the spheres. 0: the spheres always decide.
    std::vector<float> pair_slacks;
    std::vector<std::shared_ptr<const Solid>> solids;  // by group, in the frame of its body; null where not needed

    // Adds a group with these spheres, rows of x, y, z, r in the body frame; n > 0.
    void add_group(int body, const double* spheres, int n);
    // Finds the units, once all groups are added.
    void find_units();
    int unit_of(int group) const { return unit_of_[group]; }
    const SphereNode& root(int group) const { return nodes[groups[group].begin]; }

  private:
    std::vector<int> unit_of_;
};

// Pairs of groups that belong to the same two units, and either all to one table or to none.
struct UnitPair {
    int a, b;        // units
    int begin, end;  // of pairs
    const ClearanceTable* table;
};

// Obstacles, poses in the world. An obstacle may be composed of several of these.
struct BoxObstacle {
    float R[9];  // rows: axes of the box
    float p[3], half[3];
    int owner;
};
struct RoundObstacle {  // points within `radius` of a segment: sphere (half = 0) or capsule; or a cylinder
    float p[3], axis[3], half, radius;
    int owner;
};

struct SurfaceObstacle {  // points within `radius` of a surface, and what is inside of it
    std::shared_ptr<const Surface> surface;
    BoxObstacle bounds;  // with the axes of the surface
    float corner[3];     // the origin of its coordinates
    float radius;        // with the rounding of the surface
    int owner;
};

struct Obstacles {
    std::vector<BoxObstacle> upright_boxes, boxes;  // upright: z of the box is z of the world
    std::vector<RoundObstacle> capsules, cylinders;
    std::vector<SurfaceObstacle> surfaces;
};

// Obstacles that a group may touch, by kind: indices into Obstacles.
struct NearObstacles {
    std::vector<int> upright_boxes, boxes, capsules, cylinders, surfaces;
    bool empty() const {
        return upright_boxes.empty() && boxes.empty() && capsules.empty() && cylinders.empty() && surfaces.empty();
    }
};

// A joint in float32; see BodyRecord.
struct FloatBody {
    Kind kind;
    int parent, iq;
    float scale, offset, R[9], p[3], axis[3];
    bool aligned;
};

// A robot among obstacles, some of whose joints move while the others are fixed. Whatever cannot change during
// the query is computed once: poses of bodies that do not move, and which obstacles a group can never reach.
class CollisionQuery {
  public:
    struct Joints {
        const double* q;                 // positions of the joints that do not move
        const double *lower, *upper;     // bounds of each coordinate in this query; infinite if there are none
        const std::vector<char>& moves;  // by v index
        bool check_fixed;                // whether parts that do not move are checked against obstacles too
    };
    // `allowed` (owners, groups): whether each owner of obstacles and each group may touch.
    CollisionQuery(const Model& robot, const SphereModel& spheres, const Obstacles& obstacles,
                   const std::vector<char>& allowed, const Joints& joints);

    const Model& robot() const { return robot_; }
    const SphereModel& spheres() const { return spheres_; }
    const Obstacles& obstacles() const { return obstacles_; }
    const FloatBody* bodies() const { return bodies_.data(); }
    // Bounds of how far points of a group move in the world, and of how far the groups of a pair move relative to each
    // other, for each unit that a coordinate of v moves: nv numbers.
    const float* group_sweep(int group) const { return group_sweeps_.data() + row_size() * group; }
    const float* pair_sweep(int pair) const { return pair_sweeps_.data() + row_size() * pair; }

    struct Dof {
        int iq, iv;
    };
    long n_owners = 0;             // of obstacles
    bool complete = true;          // no fixed part is near anything, so that the query checks all relevant pairs
    std::vector<Dof> moving_dofs;  // of joints with one coordinate
    std::vector<int> moving_manifold_bodies;  // whose joints are ball or free joints that move
    std::vector<double> q;                    // positions of the joints that do not move
    // A coordinate in float32. Angles far from zero are reduced first where that changes nothing else.
    float reduced(int iq, double value) const {
        constexpr double turn = 6.283185307179586476925;
        if (__builtin_fabs(value) > turn && periodic_[iq]) value -= turn * __builtin_rint(value / turn);
        return static_cast<float>(value);
    }
    struct FixedPose {
        float R[9], p[3];
    };
    std::vector<FixedPose> fixed_poses;  // by body, valid for those that do not move
    std::vector<int> moving_bodies, checked_groups;
    std::vector<char> moves;               // by body
    std::vector<NearObstacles> near;       // by group
    std::vector<NearObstacles> unit_near;  // by unit: those of its groups
    std::vector<SphereModel::Pair> pairs;  // those whose distance can change, by unit pairs
    std::vector<float> slacks;             // of each pair, see SphereModel::pair_slacks
    std::vector<UnitPair> unit_pairs;
    std::vector<int> checked_units;
    // Whether the solids of a pair touch or are nearer than `margin` [m]. The pose of the second body in the first is
    // twelve numbers: a rotation by rows and a position.
    bool solids_touch(int pair, const float* pose, float margin) const;
    // Bounds as above of all groups of a unit, and of all pairs of a unit pair.
    const float* unit_sweep(int unit) const { return unit_sweeps_.data() + row_size() * unit; }
    const float* unit_pair_sweep(int k) const { return unit_pair_sweeps_.data() + row_size() * k; }

  private:
    void find_unit_pairs(const std::vector<int>& checked);
    void place_fixed_bodies(const Joints& joints);
    void find_moving(const Joints& joints);
    void bound_sweeps(const Joints& joints);
    void add_sweep(const Joints& joints, int group, int until, float* row) const;
    std::size_t row_size() const { return static_cast<std::size_t>(robot_.nv); }
    struct Ball {
        double centre[3], radius;
    };
    Ball reachable(int group, const Joints& joints) const;
    void find_near(const std::vector<char>& allowed, const Joints& joints);

    const Model& robot_;
    const SphereModel& spheres_;
    const Obstacles& obstacles_;
    std::vector<FloatBody> bodies_;
    std::vector<char> periodic_;  // by q index: an angle that one body alone depends on
    std::vector<float> group_sweeps_, pair_sweeps_, unit_sweeps_, unit_pair_sweeps_;
};

}  // namespace kinodyn
