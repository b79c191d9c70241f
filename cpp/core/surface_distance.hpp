// Distance between the surfaces of two solids, one of which moves.
#pragma once

#include <vector>

#include "core/rigid_transform.hpp"
#include "core/triangle_bvh.hpp"

namespace kinodyn {

// A tree of boxes around triangles. Large triangles are divided, so that the boxes are small.
class TriangleTree {
  public:
    explicit TriangleTree(std::vector<Triangle> triangles);

    struct Node {
        Vec3 centre, half;
        double radius;  // of the sphere around the box
        int triangle;   // of a leaf; otherwise -1, and the children are the next node and `second`
        int second;
    };
    std::vector<Node> nodes;
    std::vector<Triangle> triangles;

    // The children of a node, and in place of those that are no leaves their children: up to four boxes, which one
    // vector compares with another box. Unused ones are empty.
    struct Descendants {
        float centre[3][4], half[3][4];
        int node[4];
    };
    const Descendants& descendants(int node) const { return descendants_[descendants_of_[node]]; }

  private:
    void build(int first, int count);
    void gather_descendants();

    std::vector<Descendants> descendants_;
    std::vector<int> descendants_of_;  // by node; -1 for leaves and nodes that are passed over
};

// A solid that can be compared with others.
struct Solid {
    explicit Solid(const std::vector<Triangle>& triangles);

    // Whether it contains a part of another solid, placed by T in its frame, whose surface does not touch its own.
    bool contains_part(const Solid& other, const Transform& T) const;

    TriangleTree tree;
    TriangleBvh surface;
    std::vector<Vec3> corners;  // one of each connected part
};

// Whether two solids, the second placed by T in the frame of the first, collide or are nearer than `bound` > 0.
bool nearer_than(const Solid& first, const Solid& second, const Transform& T, double bound);

// A joint between two solids that moves to either side by up to `amount` [rad or m].
struct JointSpan {
    Vec3 origin, direction;  // of its axis, in the frame of the first solid
    bool slides;
    double amount;
};

class SurfaceDistance {
  public:
    // The solids must outlive this object.
    SurfaceDistance(const Solid& first, const Solid& second) : first_(first), second_(second) {}

    // A lower bound of the distance of the second surface, placed by T in the frame of the first, within `tolerance`
    // of it; `bound` if it is larger. 0 if they touch. The nearest triangles are remembered: of poses near to each
    // other, the next one is quick.
    double distance(const Transform& T, double bound, double tolerance);
    // A lower bound of the distance while joints move within their spans about T; at least `bound` - `tolerance` if it
    // is larger, 0 if they may touch. Of two points, the distance changes by no more than one of them moves, and of two
    // convex sets by no more than one of them moves towards the other: surfaces about an axis hardly do.
    double clearance(const Transform& T, const std::vector<JointSpan>& spans, double bound, double tolerance);
    // Whether a part of one solid is inside the other, of surfaces that do not touch.
    bool nested(const Transform& T) const;

  private:
    // The smallest distance of triangles, less how far they can move towards each other: `movement` of two nodes, or
    // `approach` of a node to whatever is apart from it in a direction.
    template <class Movement, class Approach>
    double smallest(const Transform& T, double bound, double tolerance, double most, Movement&& movement,
                    Approach&& approach);

    const Solid &first_, &second_;
    struct Entry {
        int i, j;    // nodes
        double gap;  // between their boxes, at least
    };
    std::vector<Entry> stack_;
    int nearest_[2] = {0, 0};  // nodes
};

}  // namespace kinodyn
