// Few large spheres around many small ones: the coarse level of a link's collision spheres.
#pragma once

#include <vector>

#include "core/vec3.hpp"

namespace kinodyn {

// A small ball that contains all balls.
Ball enclosing_ball(const std::vector<Ball>& balls);

struct SphereGroups {
    std::vector<int> group;    // of each ball
    std::vector<Ball> coarse;  // contain the balls of their group
};

// Divides balls into at most `count` groups of neighbours whose enclosing balls are small.
SphereGroups group_spheres(const std::vector<Ball>& balls, int count);

}  // namespace kinodyn
