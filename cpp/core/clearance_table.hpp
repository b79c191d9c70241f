// Lower bounds of the distance of two bodies, in a table over the one or two coordinates between them. Adjacent links
// would otherwise take most of the time of collision checks, and their spheres overlap where the links do not collide.
#pragma once

#include <cstdint>
#include <vector>

#include "core/layout.hpp"

namespace kinodyn {

class CollisionQuery;
class SurfaceDistance;

// An axis of a table; a table over one coordinate has another one with iq = -1, count = 1, step = 0.
struct TableAxis {
    std::int32_t iq, count;
    double low, step;  // cell i is from low + i step to low + (i + 1) step
    double period;     // of an angle that is first reduced to one turn; 0 for other coordinates

    static constexpr auto layout() {
        using A = TableAxis;
        return named("table_axis", field("iq", &A::iq), field("count", &A::count), field("low", &A::low),
                     field("step", &A::step), field("period", &A::period));
    }
};

struct ClearanceTable {
    static constexpr int max_axes = 2;
    // For all configurations of a cell: a lower bound of the distance [m] if it is positive, else:
    static constexpr float undecided = -1;  // spheres must be checked
    static constexpr float colliding = -2;  // spheres collide everywhere in it

    int first, second;  // bodies
    TableAxis axis[max_axes];
    std::vector<float> cells;  // the last axis varies fastest
};

// Fills a table for two groups of spheres and the surfaces that they cover, in the frames of their bodies.
std::vector<float> clearances(const CollisionQuery& query, int pair, const TableAxis (&axis)[ClearanceTable::max_axes],
                              SurfaceDistance& surfaces);

}  // namespace kinodyn
