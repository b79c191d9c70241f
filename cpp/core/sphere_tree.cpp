// Trees of spheres: four children for each sphere, by halving at the median along the longest axis twice.
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/collision.hpp"

namespace kinodyn {

namespace {

struct Sphere {
    double c[3], r;
};
using Iterator = std::vector<Sphere>::iterator;

// Rounding of float32 in poses and centres of robots of a few metres [m].
constexpr double rounding = 1e-5;

double distance(const double* a, const double* b) {
    return std::sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

double reach(const Sphere& s, const double* c) { return distance(s.c, c) + s.r; }

// A sphere about the middle of many others, which contains them.
Sphere sphere_about_middle(Iterator begin, Iterator end) {
    Sphere result{};
    for (int i = 0; i < 3; ++i) {
        const auto [low, high] =
            std::minmax_element(begin, end, [i](const auto& a, const auto& b) { return a.c[i] < b.c[i]; });
        result.c[i] = 0.5 * (low->c[i] + high->c[i]);
    }
    for (auto s = begin; s != end; ++s) result.r = std::max(result.r, reach(*s, result.c));
    return result;
}

// A small sphere that contains others: the centre moves towards the farthest of them by decreasing steps
// (M. Badoiu, K. Clarkson, SODA 2003).
Sphere bounding_sphere(Iterator begin, Iterator end) {
    if (end - begin == 1) return *begin;
    constexpr int max_exact_spheres = 200;
    if (end - begin > max_exact_spheres) return sphere_about_middle(begin, end);
    Sphere best = *begin;
    best.r = 0;
    for (auto s = begin; s != end; ++s) best.r = std::max(best.r, reach(*s, best.c));
    double c[3] = {best.c[0], best.c[1], best.c[2]};
    constexpr int steps = 100;
    for (int k = 1; k <= steps; ++k) {
        const Sphere& far =
            *std::max_element(begin, end, [&](const auto& a, const auto& b) { return reach(a, c) < reach(b, c); });
        const double radius = reach(far, c);
        if (radius < best.r) best = {{c[0], c[1], c[2]}, radius};
        for (int i = 0; i < 3; ++i) c[i] += (far.c[i] - c[i]) / (k + 1);
    }
    return best;
}

// Halves a set of spheres along the axis on which their centres are spread most.
Iterator halve(Iterator begin, Iterator end) {
    int axis = 0;
    double longest = -1;
    for (int i = 0; i < 3; ++i) {
        const auto [low, high] =
            std::minmax_element(begin, end, [i](const auto& a, const auto& b) { return a.c[i] < b.c[i]; });
        if (high->c[i] - low->c[i] > longest) longest = high->c[i] - low->c[i], axis = i;
    }
    const Iterator middle = begin + (end - begin) / 2;
    std::nth_element(begin, middle, end, [axis](const auto& a, const auto& b) { return a.c[axis] < b.c[axis]; });
    return middle;
}

SphereNode node_of(const Sphere& s) {
    return {{static_cast<float>(s.c[0]), static_cast<float>(s.c[1]), static_cast<float>(s.c[2])},
            static_cast<float>(s.r + rounding),
            0};
}

void add_subtree(std::vector<SphereNode>& nodes, Iterator begin, Iterator end);

void add_children(std::vector<SphereNode>& nodes, Iterator begin, Iterator end) {
    const Iterator middle = halve(begin, end);
    for (const auto& [from, to] : {std::pair(begin, middle), std::pair(middle, end)}) {
        if (to - from < 2) {
            add_subtree(nodes, from, to);
            continue;
        }
        const Iterator quarter = halve(from, to);
        add_subtree(nodes, from, quarter);
        add_subtree(nodes, quarter, to);
    }
}

void add_subtree(std::vector<SphereNode>& nodes, Iterator begin, Iterator end) {
    const Sphere s = bounding_sphere(begin, end);
    const std::size_t index = nodes.size();
    nodes.push_back(node_of(s));
    if (end - begin > 1) add_children(nodes, begin, end);
    nodes[index].next = static_cast<int>(nodes.size());
}

}  // namespace

void SphereModel::add_group(int body, const double* spheres, int n) {
    std::vector<Sphere> all;
    for (int i = 0; i < n; ++i, spheres += 4) all.push_back({{spheres[0], spheres[1], spheres[2]}, spheres[3]});
    const int begin = static_cast<int>(nodes.size());
    add_subtree(nodes, all.begin(), all.end());
    groups.push_back({body, begin, static_cast<int>(nodes.size())});
}

void SphereModel::find_units() {
    units.clear();
    for (int g = 0; g < static_cast<int>(groups.size()); ++g) {
        const int body = groups[g].body;
        const auto same = [&](const SphereUnit& unit) { return body >= 0 && unit.body == body; };
        auto unit = std::find_if(units.begin(), units.end(), same);
        if (unit == units.end()) unit = units.insert(unit, {body, {}, {}});
        unit->groups.push_back(g);
    }
    unit_of_.resize(groups.size());
    for (std::size_t u = 0; u < units.size(); ++u) {
        std::vector<Sphere> roots;
        for (int g : units[u].groups) {
            unit_of_[g] = static_cast<int>(u);
            roots.push_back({{root(g).centre[0], root(g).centre[1], root(g).centre[2]}, root(g).r});
        }
        if (roots.size() == 1) {
            units[u].bounding = root(units[u].groups[0]);
            continue;
        }
        units[u].bounding = node_of(bounding_sphere(roots.begin(), roots.end()));
    }
}

}  // namespace kinodyn
