// The pairs of sphere groups and obstacles between which distances are measured.
#pragma once

#include <cstdint>
#include <vector>

#include "core/collision.hpp"

namespace kinodyn {

class DistanceQuery {
  public:
    struct GroupPair {
        int a, b;
    };
    // A group of spheres and an obstacle, which is given by its index in the list of its kind. Its bounding sphere
    // rejects most of the pairs that are far apart.
    struct ObstaclePair {
        enum Kind : std::int32_t { UprightBox, Box, Capsule, Cylinder, Surface } kind;
        int group, index, owner;
        double centre[3], radius;
    };

    // `checked` (owners, groups): whether the distance of each owner of obstacles and each group is measured.
    DistanceQuery(const Model& robot, const SphereModel& spheres, const Obstacles& obstacles,
                  const std::vector<GroupPair>& pairs, const std::vector<char>& checked);

    const Model& robot() const { return robot_; }
    const SphereModel& spheres() const { return spheres_; }
    const Obstacles& obstacles() const { return obstacles_; }

    // The children of a node in one SIMD vector of four; unused entries have a large negative radius.
    struct Children {
        float x[4], y[4], z[4], r[4];
        int node[4];
    };
    const Children* children() const { return children_.data(); }
    const int* children_of() const { return children_of_.data(); }  // by node; not valid for leaves

    // Pairs are numbered: first those of two groups, then those of a group and an obstacle.
    std::vector<GroupPair> pairs;
    std::vector<ObstaclePair> obstacle_pairs;
    int count() const { return static_cast<int>(pairs.size() + obstacle_pairs.size()); }

  private:
    void gather_children();

    std::vector<Children> children_;
    std::vector<int> children_of_;
    const Model& robot_;
    const SphereModel& spheres_;
    const Obstacles& obstacles_;
};

}  // namespace kinodyn
