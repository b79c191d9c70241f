// The pairs of sphere groups and obstacles between which distances are measured.
#pragma once

#include <cstdint>
#include <vector>

#include "core/collision.hpp"

namespace kinodyn {

// What a limit remembers of a query from one configuration of a robot to the next: a header, the poses of all bodies
// (12 numbers each), the pairs that were near, and lower bounds of the distances of all pairs.
struct NearPairsHeader {
    double query;      // id of the query; 0: nothing is known
    double count;      // of the pairs that were near
    double floor;      // [m] smallest distance of a pair within its margin, where the memory begins
    double origin[3];  // from which the poses are measured
};
struct NearPair {
    static constexpr int most = 4;
    double pair;
    double others;                     // [m] lower bound of the distances of all spheres but those below
    double count;                      // of the spheres below
    double first[most], second[most];  // spheres that are near to each other; second: -1 for an obstacle
};
constexpr int max_near_pairs = 64;

class DistanceQuery {
  public:
    static constexpr int pose_words = 12;
    // Numbers that are remembered. A query with more pairs, of a later world, has fewer lower bounds than pairs.
    int memory_words() const {
        constexpr auto lists = (sizeof(NearPairsHeader) + max_near_pairs * sizeof(NearPair)) / sizeof(double);
        return static_cast<int>(lists + pose_words * robot_.bodies.size()) + count();
    }

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

    double id() const { return id_; }  // different for every query of the process
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

    const double id_;
    std::vector<Children> children_;
    std::vector<int> children_of_;
    const Model& robot_;
    const SphereModel& spheres_;
    const Obstacles& obstacles_;
};

}  // namespace kinodyn
