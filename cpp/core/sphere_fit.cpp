#include "core/sphere_fit.hpp"

#include <cstdint>
#include <queue>

#include "core/octree_cells.hpp"

namespace kinodyn {

namespace {

constexpr double cell_share = 0.25;  // radius of the cells at the surface, as a share of the resolution
constexpr double max_cells = 60000;  // at the surface; bounds time and memory
constexpr double candidate_share = 1.98;
constexpr int max_candidates = 8000;
constexpr double rounding = 1e-5;  // [m] added to the radii, so that float32 arithmetic stays conservative
constexpr int word_size = 64;

// The cells in words of 64: those that a candidate covers are bits, and words without any are not stored.
class Cover {
  public:
    explicit Cover(const std::vector<Cell>& cells) : cells_(cells), uncovered_((cells.size() + 63) / 64, ~0ull) {
        const std::size_t tail = cells.size() % word_size;
        if (tail) uncovered_.back() = (1ull << tail) - 1;
        for (std::size_t word = 0; word < uncovered_.size(); ++word) bounds_.push_back(bound(word));
    }

    struct Bits {
        std::uint32_t word;
        std::uint64_t bits;
    };
    using Set = std::vector<Bits>;

    // The cells that a ball contains.
    Set covered(const Ball& ball) const {
        Set set;
        for (std::size_t word = 0; word < bounds_.size(); ++word) {
            const double distance = norm(bounds_[word].centre - ball.centre);
            if (distance > ball.radius + bounds_[word].radius) continue;
            const std::uint64_t bits =
                distance + bounds_[word].radius <= ball.radius ? ~0ull : covered_bits(word, ball);
            if (bits) set.push_back({static_cast<std::uint32_t>(word), bits});
        }
        return set;
    }

    // How many cells of a set are not covered yet.
    int gain(const Set& set) const {
        int count = 0;
        for (const Bits& entry : set) count += __builtin_popcountll(entry.bits & uncovered_[entry.word]);
        return count;
    }

    void add(const Set& set) {
        for (const Bits& entry : set) uncovered_[entry.word] &= ~entry.bits;
    }

    // Any cell that is not covered, null if there is none.
    const Cell* first_uncovered() {
        for (; next_ < uncovered_.size(); ++next_)
            if (uncovered_[next_]) return &cells_[next_ * word_size + __builtin_ctzll(uncovered_[next_])];
        return nullptr;
    }

  private:
    std::size_t end(std::size_t word) const { return std::min(cells_.size(), (word + 1) * word_size); }

    Ball bound(std::size_t word) const {
        Vec3 low{1e300, 1e300, 1e300}, high{-1e300, -1e300, -1e300};
        for (std::size_t k = word * word_size; k < end(word); ++k) {
            const Vec3 reach{cells_[k].radius, cells_[k].radius, cells_[k].radius};
            low = min(low, cells_[k].centre - reach);
            high = max(high, cells_[k].centre + reach);
        }
        return {0.5 * (low + high), 0.5 * norm(high - low)};
    }

    std::uint64_t covered_bits(std::size_t word, const Ball& ball) const {
        std::uint64_t bits = 0;
        for (std::size_t k = word * word_size; k < end(word); ++k) {
            const double reach = ball.radius - cells_[k].radius;
            if (reach >= 0 && squared(cells_[k].centre - ball.centre) <= reach * reach)
                bits |= 1ull << (k - word * word_size);
        }
        return bits;
    }

    const std::vector<Cell>& cells_;
    std::vector<std::uint64_t> uncovered_;
    std::vector<Ball> bounds_;
    std::size_t next_ = 0;
};

// Balls about the centres of the candidate cells and, from each, towards the middle of the solid. Each is as large as
// the resolution allows.
class Candidates {
  public:
    Candidates(const TriangleBvh& surface, double resolution) : surface_(surface), resolution_(resolution) {}

    void add(const Cell& cell) {
        if (cell.depth > -0.5 * resolution_) push(cell.centre, cell.depth);
        Vec3 centre = cell.depth > 0 ? cell.centre : cell.nearest;
        if (cell.depth > 0) ascend(centre, cell.depth, cell.nearest);
    }

    std::vector<Ball> balls;

  private:
    void push(const Vec3& centre, double depth) { balls.push_back({centre, depth + resolution_}); }

    // Moves away from the nearest point of the surface: within the ball of radius `depth` the centre stays inside.
    void ascend(Vec3 centre, double depth, Vec3 nearest) {
        for (int step = 0; step < 12; ++step) {
            const Vec3 next = centre + 0.5 * (centre - nearest);
            const TriangleBvh::Nearest near = surface_.nearest(next);
            if (near.distance < depth + 0.05 * depth) break;
            centre = next, depth = near.distance, nearest = near.point;
            push(centre, depth);
        }
    }

    const TriangleBvh& surface_;
    double resolution_;
};

std::vector<Ball> candidate_balls(const TriangleBvh& surface, const std::vector<Cell>& cells, double resolution) {
    Candidates candidates(surface, resolution);
    const std::size_t stride = 1 + cells.size() / max_candidates;
    for (std::size_t k = 0; k < cells.size(); k += stride) candidates.add(cells[k]);
    return std::move(candidates.balls);
}

// The ball that covers a cell whatever happens: about the nearest point of the surface, or as deep as the cell is.
Ball ball_about(const Cell& cell, double resolution) {
    return {cell.depth > 0 ? cell.centre : cell.nearest, std::max(cell.depth, 0.0) + resolution};
}

// Greedy set cover: the ball with the most cells that are not covered yet, again and again. Gains only fall, so a ball
// whose gain is still what the queue says is the best one.
std::vector<Ball> greedy_cover(Cover& cover, const std::vector<Ball>& balls, double resolution) {
    std::vector<Cover::Set> sets;
    std::priority_queue<std::pair<int, int>> queue;
    for (std::size_t k = 0; k < balls.size(); ++k) {
        sets.push_back(cover.covered(balls[k]));
        queue.emplace(cover.gain(sets.back()), -static_cast<int>(k));  // of equal ones the first
    }
    std::vector<Ball> chosen;
    while (!queue.empty() && queue.top().first > 0) {
        const auto [gain, key] = queue.top();
        queue.pop();
        const int now = cover.gain(sets[-key]);
        if (now < gain) {
            queue.emplace(now, key);
            continue;
        }
        cover.add(sets[-key]);
        chosen.push_back(balls[-key]);
    }
    while (const Cell* cell = cover.first_uncovered()) {
        chosen.push_back(ball_about(*cell, resolution));
        cover.add(cover.covered(chosen.back()));
    }
    return chosen;
}

// Removes balls that the others make superfluous, and shrinks each to the cells that no other one contains.
std::vector<Ball> shrink(const std::vector<Cell>& cells, std::vector<Ball> balls) {
    const auto contains = [](const Ball& ball, const Cell& cell) {
        const double reach = ball.radius - cell.radius;
        return reach >= 0 && squared(cell.centre - ball.centre) <= reach * reach;
    };
    std::vector<std::vector<int>> members(balls.size());
    std::vector<int> count(cells.size(), 0);
    for (std::size_t b = 0; b < balls.size(); ++b)
        for (std::size_t k = 0; k < cells.size(); ++k)
            if (contains(balls[b], cells[k])) members[b].push_back(static_cast<int>(k)), ++count[k];
    std::vector<Ball> kept;
    for (std::size_t b = balls.size(); b-- > 0;) {
        double radius = 0;
        for (int k : members[b])
            if (count[k] == 1) radius = std::max(radius, norm(cells[k].centre - balls[b].centre) + cells[k].radius);
        balls[b].radius = radius;
        for (int k : members[b])
            if (count[k] > 1 && norm(cells[k].centre - balls[b].centre) + cells[k].radius > radius) --count[k];
        if (radius > 0) kept.push_back({balls[b].centre, radius + rounding});
    }
    return kept;
}

}  // namespace

SphereFit fit_spheres(const TriangleBvh& surface, double resolution) {
    const double finest = std::sqrt(2 * surface.area() / max_cells);  // about two cells of side r for each r^2
    const double cell = std::max(cell_share * resolution, finest);
    const double kept = std::max(resolution, cell / cell_share) - rounding;
    const OctreeCells cells = octree_cells(surface, cell, candidate_share * kept);
    Cover cover(cells.leaves);
    const std::vector<Ball> balls = candidate_balls(surface, cells.candidates, kept);
    return {shrink(cells.leaves, greedy_cover(cover, balls, kept)), kept + rounding};
}

Overshoot measure_overshoot(const TriangleBvh& surface, const std::vector<Ball>& spheres) {
    constexpr int points = 100;
    constexpr double golden_angle = 2.399963229728653;
    std::vector<std::pair<double, double>> found;  // distance, area
    double total = 0;
    for (const Ball& ball : spheres)
        for (int k = 0; k < points; ++k) {
            const double z = (2 * k + 1.0) / points - 1, r = std::sqrt(1 - z * z), angle = golden_angle * k;
            const Vec3 p = ball.centre + ball.radius * Vec3{r * std::cos(angle), r * std::sin(angle), z};
            const bool hidden = std::any_of(spheres.begin(), spheres.end(), [&](const Ball& other) {
                return &other != &ball && squared(p - other.centre) < other.radius * other.radius;
            });
            if (hidden) continue;
            const double distance = surface.inside(p) ? 0 : surface.nearest(p).distance;
            found.emplace_back(distance, ball.radius * ball.radius);
            total += ball.radius * ball.radius;
        }
    std::sort(found.begin(), found.end());
    Overshoot overshoot;
    double below = 0;
    for (const auto& [distance, area] : found) {
        below += area;
        if (below <= 0.5 * total) overshoot.median = distance;
        if (below <= 0.95 * total) overshoot.p95 = distance;
        overshoot.max = distance;
    }
    return overshoot;
}

}  // namespace kinodyn
