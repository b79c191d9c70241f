#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "planning/problem.hpp"

namespace kinodyn {

namespace {
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr int alignment = 16;  // floats
}  // namespace

NodeTable::NodeTable(int dim) : dim_(dim) { grow(256); }

void NodeTable::grow(int capacity) {
    std::vector<float> memory(static_cast<std::size_t>(dim_) * static_cast<std::size_t>(capacity) + alignment,
                              infinity);
    const auto address = reinterpret_cast<std::uintptr_t>(memory.data()) / sizeof(float);
    float* aligned = memory.data() + (alignment - address % alignment) % alignment;
    for (int k = 0; k < dim_; ++k)
        std::copy_n(aligned_ + static_cast<std::size_t>(k) * capacity_, size_,
                    aligned + static_cast<std::size_t>(k) * capacity);
    memory_.swap(memory);
    aligned_ = aligned, capacity_ = capacity;
}

int NodeTable::add(const float* q, int parent) {
    if (size_ == capacity_) grow(2 * capacity_);
    for (int k = 0; k < dim_; ++k) aligned_[static_cast<std::size_t>(k) * capacity_ + size_] = q[k];
    parents_.push_back(parent);
    domains_.push_back(infinity);
    return size_++;
}

void NodeTable::clear() {
    std::fill(memory_.begin(), memory_.end(), infinity);
    parents_.clear();
    domains_.clear();
    size_ = 0;
}

PlanningProblem::PlanningProblem(const CollisionQuery& q, const PlannerSettings& s, std::uint64_t seed)
    : query(q),
      settings(s),
      dim(static_cast<int>(q.moving_dofs.size())),
      start_tree(dim),
      goal_tree(dim),
      random_state(initial_random_state(seed)) {}

void PlanningProblem::set_ends(const double* start, const double* goals, int n_goals) {
    std::vector<float> q(dim);
    std::copy(start, start + dim, q.begin());
    start_tree.clear(), goal_tree.clear();
    start_tree.add(q.data(), -1);
    for (int i = 0; i < n_goals; ++i) {
        std::copy(goals + i * dim, goals + (i + 1) * dim, q.begin());
        goal_tree.add(q.data(), -1);
    }
    this->n_goals = n_goals;
    solved = false;
}

std::uint64_t initial_random_state(std::uint64_t seed) { return seed * 0x9e3779b97f4a7c15u + 0x2545f4914f6cdd1du; }

double steady_time() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace kinodyn
