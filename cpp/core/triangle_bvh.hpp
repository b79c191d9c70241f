// A bounding-volume hierarchy over triangles: nearest point, and generalised winding number, which tells inside from
// outside even for meshes with holes and duplicate faces.
#pragma once

#include <cstddef>
#include <vector>

#include "core/vec3.hpp"

namespace kinodyn {

struct Triangle {
    Vec3 a, b, c;
};

// The point of a triangle that is nearest to p.
Vec3 nearest_on(const Triangle& t, const Vec3& p);

class TriangleBvh {
  public:
    explicit TriangleBvh(std::vector<Triangle> triangles);

    struct Nearest {
        Vec3 point;
        double distance;
    };
    // The point of the surface that is nearest to p. Only points nearer than `bound` are searched; if there is none,
    // the distance is `bound`.
    Nearest nearest(const Vec3& p, double bound = 1e300) const;

    // How often the surface encloses p: 1 inside, 0 outside, in between near a hole, -1 inside a surface that faces
    // inwards.
    double winding_number(const Vec3& p) const;
    // A flat surface has no inside, and nothing outside the box around a surface is inside.
    bool inside(const Vec3& p) const;

    // The smallest signed distance of points x, y, z from the surface, negative inside, and which of them it is.
    struct Lowest {
        double distance;
        std::size_t index;
    };
    Lowest lowest(const double* points, std::size_t n) const;

    // How many nodes `nearest` and `inside` visit together for a point near the surface, on average.
    double search_cost() const;

    Vec3 lower() const { return nodes_[0].lower; }
    Vec3 upper() const { return nodes_[0].upper; }
    double area() const { return nodes_[0].area; }

  private:
    struct Node {
        Vec3 lower, upper;
        int first, count;       // triangles of a leaf; a node with count 0 has its children at `first` and `first + 1`
        Vec3 centroid, dipole;  // weighted by area: far away the surface acts as one dipole
        double area, radius;    // radius about the centroid
    };

    // The following call `visit` for each node.
    // A point that is not farther than `enough` ends the search, even if it is not the nearest.
    template <class Visit>
    Nearest find_nearest(const Vec3& p, double bound, double enough, Visit&& visit) const;
    template <class Visit>
    double sum_angles(const Vec3& p, Visit&& visit) const;
    // The winding number of a closed surface: how often it is crossed above p, from below less from above.
    template <class Visit>
    int turns_above(const Vec3& p, Visit&& visit) const;
    template <class Visit>
    bool is_inside(const Vec3& p, Visit&& visit) const;
    void build(int node, int first, int count);
    void measure(Node& node) const;
    double box_distance2(const Node& node, const Vec3& p) const;

    std::vector<Triangle> triangles_;
    std::vector<Node> nodes_;
    bool is_flat() const;

    bool flat_;    // all triangles are in one plane
    bool closed_;  // each edge belongs to as many triangles in one direction as in the other
};

}  // namespace kinodyn
