// Which pairs of links overlap in which of many states, on the three levels of their spheres.
#pragma once

#include <vector>

#include "core/vec3.hpp"

namespace kinodyn {

struct SphereLevels {
    std::vector<Ball> bounding, coarse, fine;  // in the frames of the links
    std::vector<int> coarse_start, fine_start;
};

struct LinkPair {
    int first, second;
};

struct PairOverlaps {
    long count = 0;              // states in which spheres of the pair overlap
    std::vector<int> states;     // the first of them, with how deep they overlap
    std::vector<double> depths;  // [m] sum of two radii minus distance, the deepest that was met
};

// Poses are (n_states, n_links) matrices 4x4 in rows. At most `kept` states of each pair are listed.
std::vector<PairOverlaps> find_overlaps(const SphereLevels& levels, const std::vector<LinkPair>& pairs,
                                        const double* poses, long n_states, long kept);

}  // namespace kinodyn
