// Lower bounds of the distance of two bodies, in a table over the one or two coordinates between them. Adjacent links
// would otherwise take most of the time of collision checks, and their spheres overlap where the links do not collide.
#pragma once

#include <vector>

#include "core/surface_distance.hpp"

namespace kinodyn {

class CollisionQuery;

// An axis of a table; a table over one coordinate has a second one with iq = -1, count = 1, step = 0.
struct TableAxis {
    std::int32_t iq, count;
    double low, step;  // cell i is from low + i step to low + (i + 1) step
    double period;     // of an angle that is first reduced to one turn; 0 for other coordinates
};

template <>
struct Layout<TableAxis> {
    static constexpr const char* name = "table_axis";
    static constexpr auto fields() {
        using A = TableAxis;
        return std::make_tuple(field("iq", &A::iq), field("count", &A::count), field("low", &A::low),
                               field("step", &A::step), field("period", &A::period));
    }
};

struct ClearanceTable {
    // For all configurations of a cell: a lower bound of the distance [m] if it is positive, else:
    static constexpr float undecided = -1;  // spheres must be checked
    static constexpr float colliding = -2;  // spheres collide everywhere in it

    int first, second;  // bodies
    TableAxis axis[2];
    std::vector<float> cells;  // by axis 0, then axis 1
};

// Fills a table for two groups of spheres and the surfaces that they cover, in the frames of their bodies.
std::vector<float> clearances(const CollisionQuery& query, int pair, const TableAxis (&axis)[2],
                              SurfaceDistance& surfaces);

}  // namespace kinodyn
