// Path simplification: redundant vertices are removed, shortcuts between random points of the path are tried, corners
// are cut. New edges are checked at a resolution, or continuously; edges that have not been checked continuously are so
// at the end.
#pragma once

#include "kernels/motion_checks.hpp"
#include "planning/path_checks.hpp"
#include "planning/random.hpp"

namespace kinodyn::KINODYN_TARGET {

class PathShortener {
  public:
    // Vertices that a path may grow to from n.
    static int max_vertices(int n) { return 2 * n + 64; }
    // Numbers in memory: the path, two points and a direction; a flag for each edge.
    static long words(int n, int dim) { return (max_vertices(n) + 3L) * dim + max_vertices(n); }

    // How new edges are checked before they replace others. Lazily takes less time, but the path may turn out not to be
    // free at the end.
    enum class Checks { lazy, continuous };

    // The path of a problem; `memory` has room for `words` numbers.
    PathShortener(MotionChecker& checker, const PlanningProblem& problem, Checks checks, float* memory)
        : checker_(checker),
          dim_(problem.dim),
          continuous_(checks == Checks::continuous),
          step_((continuous_ ? 1.0f : lazy_step_factor) * static_cast<float>(problem.settings.edge_step)),
          resolution_(static_cast<float>(problem.settings.resolution)),
          random_(problem.random_state | 1),
          path_(memory),
          size_(problem.path_size()),
          max_size_(max_vertices(size_)),
          scratch_(memory + static_cast<long>(max_size_) * dim_),
          known_free_(reinterpret_cast<char*>(scratch_ + 3L * dim_)) {
        memcpy(path_, problem.path.data(), sizeof(float) * problem.path.size());
        memset(known_free_, 0, static_cast<unsigned long>(max_size_));
    }

    float* vertex(int i) { return path_ + static_cast<long>(i) * dim_; }
    int size() const { return size_; }

    // An edge that is not free throughout, or was not checked in time; -1 if all are free.
    int blocked_edge(PathChecker& checker, double end) {
        return checker.blocked_edge(path_, size_, known_free_, resolution_, end);
    }

    // Connects vertices that are not neighbours, while there is time.
    void remove_vertices(double end) {
        for (int i = 0; i + 2 < size_ && steady_time() < end; ++i)
            for (int j = size_ - 1; j > i + 1 && steady_time() < end; --j)
                if (edge_free(vertex(i), vertex(j))) {
                    remove(i + 1, j);
                    break;
                }
    }

    // Tries to connect two random points of the path. Returns how much shorter it became.
    float shortcut() {
        const float length = total_length();
        float a = random() * length, b = random() * length;
        if (a > b) swap(a, b);
        float *from = scratch_, *to = scratch_ + dim_;
        const int first = point_at(a, from), last = point_at(b, to);
        if (first == last) return 0;
        const float gain = b - a - distance(from, to);
        if (gain < 1e-3f * length || size_ + 2 > max_size_ || !edge_free(from, to)) return 0;
        replace(first + 1, last + 1, from, to);
        return gain;
    }

    // Cuts each corner at the same fraction of both edges, the largest that is free.
    void cut_corners(double end) {
        for (int i = 1; i + 1 < size_ && size_ < max_size_ && steady_time() < end; ++i) {
            float *from = scratch_, *to = scratch_ + dim_;
            for (float part = 0.5f; part > 0.1f; part *= 0.5f) {
                interpolate(vertex(i), vertex(i - 1), part, from);
                interpolate(vertex(i), vertex(i + 1), part, to);
                if (!edge_free(from, to)) continue;
                replace(i, i + 1, from, to);
                ++i;
                break;
            }
        }
    }

    float total_length() {
        float sum = 0;
        for (int i = 0; i + 1 < size_; ++i) sum += distance(vertex(i), vertex(i + 1));
        return sum;
    }

  private:
    static constexpr float lazy_step_factor = 1.0f;  // of the step between checks of an edge

    static void swap(float& a, float& b) {
        const float c = a;
        a = b, b = c;
    }
    float distance(const float* a, const float* b) const {
        float sum = 0;
        for (int k = 0; k < dim_; ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
        return __builtin_sqrtf(sum);
    }
    void interpolate(const float* a, const float* b, float s, float* out) const {
        for (int k = 0; k < dim_; ++k) out[k] = a[k] + s * (b[k] - a[k]);
    }
    bool edge_free(const float* a, const float* b) {
        float* v = scratch_ + 2 * dim_;
        for (int k = 0; k < dim_; ++k) v[k] = b[k] - a[k];
        // most of those that are not free are found at a coarse resolution
        return checker_.free_at_resolution(a, v, step_) &&
               (!continuous_ || checker_.free_throughout(a, v, resolution_));
    }
    // Removes the vertices [begin, end): the edge over them is free.
    void remove(int begin, int end) {
        memmove(known_free_ + begin, known_free_ + end, static_cast<unsigned long>(size_ - end));
        known_free_[begin - 1] = continuous_;
        memmove(vertex(begin), vertex(end), sizeof(float) * static_cast<unsigned long>((size_ - end) * dim_));
        size_ -= end - begin;
    }
    // Replaces the vertices [begin, end) by two on the edges next to them: the edge between these is free.
    void replace(int begin, int end, const float* a, const float* b) {
        const char last = known_free_[end - 1];
        memmove(known_free_ + begin + 2, known_free_ + end, static_cast<unsigned long>(size_ - end));
        known_free_[begin] = continuous_, known_free_[begin + 1] = last;
        memmove(vertex(begin + 2), vertex(end), sizeof(float) * static_cast<unsigned long>((size_ - end) * dim_));
        memcpy(vertex(begin), a, sizeof(float) * static_cast<unsigned long>(dim_));
        memcpy(vertex(begin + 1), b, sizeof(float) * static_cast<unsigned long>(dim_));
        size_ += 2 - (end - begin);
    }
    // The point at a distance along the path; returns its edge.
    int point_at(float along, float* out) {
        int i = 0;
        float edge = distance(vertex(0), vertex(1));
        while (i + 2 < size_ && along > edge) {
            along -= edge;
            ++i;
            edge = distance(vertex(i), vertex(i + 1));
        }
        interpolate(vertex(i), vertex(i + 1), edge > 0 ? (along < edge ? along / edge : 1.0f) : 0.0f, out);
        return i;
    }
    float random() { return uniform(random_); }

    MotionChecker& checker_;
    int dim_;
    bool continuous_;
    float step_, resolution_;
    std::uint64_t random_;
    float* path_;
    int size_, max_size_;
    float* scratch_;
    char* known_free_;  // by edge
};

}  // namespace kinodyn::KINODYN_TARGET
