// A motion planning problem and the state of a search for its solution, which continues from call to call.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "core/collision.hpp"

namespace kinodyn {

constexpr int max_planned_dofs = 128;

struct PlannerSettings {
    double range;          // longest edge: L2 norm in joint space
    double edge_step;      // spheres move at most this far between the checks of an edge [m]
    double resolution;     // a motion is divided for continuous checks until spheres move less than this [m]
    double domain_radius;  // dynamic domain of nodes whose extension has failed (L. Jaillet et al., IROS 2005)
    double domain_growth;  // relative change of the domain with each success or failure
    double domain_min;     // its lower bound
    std::int32_t shortcut_failures;  // attempts in a row without success that end the search for shortcuts
    std::int32_t corner_rounds;      // how often all corners of a path are cut

    static constexpr auto layout() {
        using S = PlannerSettings;
        return named("planner", field("range", &S::range), field("edge_step", &S::edge_step),
                     field("resolution", &S::resolution), field("domain_radius", &S::domain_radius),
                     field("domain_growth", &S::domain_growth), field("domain_min", &S::domain_min),
                     field("shortcut_failures", &S::shortcut_failures), field("corner_rounds", &S::corner_rounds));
    }
};

// Nodes of a search tree, by column, so that lanes read one coordinate of neighbouring nodes. Columns are aligned to 64
// bytes and padded with infinity up to their capacity.
class NodeTable {
  public:
    explicit NodeTable(int dim);
    int size() const { return size_; }
    const float* column(int k) const { return aligned_ + static_cast<std::size_t>(k) * capacity_; }
    float at(int node, int k) const { return column(k)[node]; }
    int parent(int node) const { return parents_[node]; }
    float& domain(int node) { return domains_[node]; }
    // Returns its index; parent -1 for a root.
    int add(const float* q, int parent);
    void clear();

  private:
    void grow(int capacity);
    int dim_, size_ = 0, capacity_ = 0;
    std::vector<float> memory_;
    float* aligned_ = nullptr;
    std::vector<int> parents_;
    std::vector<float> domains_;
};

struct PlanningProblem {
    PlanningProblem(const CollisionQuery& query, const PlannerSettings& settings, std::uint64_t seed);
    // Starts of the search from both sides; (n, dim).
    void set_ends(const double* start, const double* goals, int n_goals);

    const CollisionQuery& query;
    PlannerSettings settings;
    int dim;
    std::vector<float> lower, upper;  // bounds of the samples
    NodeTable start_tree, goal_tree;
    std::uint64_t random_state;
    bool extend_start = true;
    long iterations = 0, edge_checks = 0, checked_packs = 0;
    double seconds = 0;  // limit of the next call
    long max_iterations = 1L << 62, max_edge_checks = 1L << 62;
    double local_fraction = 0;  // of the samples that are drawn around nodes of the tree, whatever their domains
    bool continuous = false;    // whether edges of the trees are checked continuously
    double length_bound = std::numeric_limits<double>::infinity();  // only paths shorter than this are of interest
    int n_goals = 0, goals_tried = 0;
    bool solved = false;
    std::vector<float> path;  // (n, dim)
    int blocked_edge = -1;    // first edge of the path that is not free throughout

    int path_size() const { return static_cast<int>(path.size()) / dim; }
};

// The state from which random numbers start; different for any two seeds.
std::uint64_t initial_random_state(std::uint64_t seed);

// Seconds since some time in the past.
double steady_time();

}  // namespace kinodyn
