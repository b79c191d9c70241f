#include "core/sphere_fit.hpp"

#include <cstdint>
#include <queue>
#include <unordered_set>
#include <utility>

#include "core/interrupts.hpp"

namespace kinodyn {

namespace {

// Shares of the resolution.
constexpr double patch_fraction = 0.4;      // size of the patches of the surface
constexpr double thick_fraction = 0.35;     // layer below a convex surface that is covered with the patches
constexpr double thin_fraction = 0.2;       // layer below a concave one
constexpr double cell_fraction = 0.5;       // radius of the cells of the interior
constexpr double candidate_fraction = 0.7;  // radius of the cells that candidates are in

constexpr double extent_fraction = 0.001;  // of the extent of a solid: the smallest resolution for long thin ones
constexpr double max_extents = 10;         // the largest one, in which a single sphere is enough
constexpr double rounding = 1e-5;          // [m] added to the radii, so that float32 arithmetic stays conservative
constexpr int max_candidates = 2500;
constexpr double max_pieces = 2e5;  // into which the faces are divided: long thin ones may need very many
// The surface passes through about this many cubes of the size of the resolution at most: rods need a sphere for each.
constexpr double max_cubes = 1500, max_cubes_of_area = 2;
constexpr int word_size = 64, block_size = 8;
constexpr int patch_weight = 8;

bool contains(const CoverElements& cover, const CoverElement& element, const Ball& ball) {
    const double distance2 = squared(element.bound.centre - ball.centre), reach = ball.radius - element.margin;
    const double within = ball.radius - element.bound.radius, beyond = ball.radius + element.bound.radius;
    if (within >= 0 && distance2 <= within * within) return true;
    if (element.count == 1 || reach < 0 || distance2 > beyond * beyond) return false;
    const Vec3* points = cover.points.data() + element.first;
    return std::all_of(points, points + element.count,
                       [&](const Vec3& p) { return squared(p - ball.centre) <= reach * reach; });
}

// The radius that a ball needs to contain an element.
double reach_of(const CoverElements& cover, const CoverElement& element, const Vec3& centre) {
    double farthest = 0;
    for (int k = element.first; k < element.first + element.count; ++k)
        farthest = std::max(farthest, squared(cover.points[k] - centre));
    return std::sqrt(farthest) + element.margin;
}

// The elements in words of 64: those that a ball contains are bits, and words without any are not stored.
class Cover {
  public:
    explicit Cover(const CoverElements& cover)
        : cover_(cover),
          uncovered_((cover.elements.size() + word_size - 1) / word_size, ~0ull),
          patch_words_(cover.patches / word_size) {
        const std::size_t tail = cover.elements.size() % word_size;
        if (tail) uncovered_.back() = (1ull << tail) - 1;
        for (std::size_t word = 0; word < uncovered_.size(); ++word) bounds_.push_back(bound(word, word_size));
        for (std::size_t block = 0; block * block_size < cover.elements.size(); ++block)
            block_bounds_.push_back(bound(block, block_size));
    }

    struct Bits {
        std::uint32_t word;
        std::uint64_t bits;
    };
    using Set = std::vector<Bits>;

    // The elements that a ball contains.
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

    // The elements of a set that are not covered yet, weighted: what covers the surface covers most of the interior
    // too.
    int gain(const Set& set) const {
        int count = 0;
        for (const Bits& entry : set)
            count += (entry.word < patch_words_ ? patch_weight : 1) *
                     __builtin_popcountll(entry.bits & uncovered_[entry.word]);
        return count;
    }

    void add(const Set& set) {
        for (const Bits& entry : set) uncovered_[entry.word] &= ~entry.bits;
    }

    // Any element that is not covered, null if there is none.
    const CoverElement* first_uncovered() {
        for (; next_ < uncovered_.size(); ++next_)
            if (uncovered_[next_]) return &cover_.elements[next_ * word_size + __builtin_ctzll(uncovered_[next_])];
        return nullptr;
    }

  private:
    // A ball around the elements of a word or a block.
    Ball bound(std::size_t index, int size) const {
        Vec3 low{1e300, 1e300, 1e300}, high{-1e300, -1e300, -1e300};
        const std::size_t begin = index * size, end = std::min(cover_.elements.size(), begin + size);
        for (std::size_t k = begin; k < end; ++k) {
            const Ball& ball = cover_.elements[k].bound;
            const Vec3 reach{ball.radius, ball.radius, ball.radius};
            low = min(low, ball.centre - reach);
            high = max(high, ball.centre + reach);
        }
        return {0.5 * (low + high), 0.5 * norm(high - low)};
    }

    std::uint64_t covered_bits(std::size_t word, const Ball& ball) const {
        std::uint64_t bits = 0;
        constexpr int blocks = word_size / block_size;
        const std::size_t last = std::min(block_bounds_.size(), (word + 1) * blocks);
        for (std::size_t block = word * blocks; block < last; ++block) {
            const Ball& bound = block_bounds_[block];
            const double distance2 = squared(bound.centre - ball.centre), beyond = ball.radius + bound.radius;
            if (distance2 > beyond * beyond) continue;
            const std::size_t begin = block * block_size, end = std::min(cover_.elements.size(), begin + block_size);
            const double within = ball.radius - bound.radius;
            const bool all = within >= 0 && distance2 <= within * within;
            for (std::size_t k = begin; k < end; ++k)
                if (all || contains(cover_, cover_.elements[k], ball)) bits |= 1ull << (k - word * word_size);
        }
        return bits;
    }

    const CoverElements& cover_;
    std::vector<std::uint64_t> uncovered_;
    std::vector<Ball> bounds_, block_bounds_;
    std::size_t next_ = 0;
    std::size_t patch_words_;
};

// Balls about the centres of cells and, from each, towards the middle of the solid. Each is as large as the resolution
// allows.
class Candidates {
  public:
    Candidates(const TriangleBvh& surface, double resolution) : surface_(surface), resolution_(resolution) {}

    void add(const Cell& cell) {
        if (cell.depth > -0.5 * resolution_) push(cell.centre, cell.depth);
        if (cell.depth > 0) ascend(cell.centre, cell.depth, cell.nearest);
    }

    std::vector<Ball> balls;

  private:
    // Moves away from the nearest point of the surface: within the ball of radius `depth` the centre stays inside.
    void ascend(Vec3 centre, double depth, Vec3 nearest) {
        for (int step = 0; step < 12; ++step) {
            const Vec3 next = centre + 0.5 * (centre - nearest);
            const TriangleBvh::Nearest near = surface_.nearest(next);
            if (near.distance < 1.05 * depth) break;
            centre = next, depth = near.distance, nearest = near.point;
        }
        push(centre, depth);
    }

    // Of balls that hardly differ one is enough: many ascents end at one place.
    void push(const Vec3& centre, double depth) {
        const Vec3 place = (1 / (0.25 * resolution_)) * (centre - surface_.lower());
        const auto coordinate = [](double x) { return static_cast<std::uint64_t>(std::llround(x) + 16) & 0x1fffff; };
        const std::uint64_t key = coordinate(place.x) | coordinate(place.y) << 21 | coordinate(place.z) << 42;
        if (seen_.insert(key).second) balls.push_back({centre, depth + resolution_});
    }

    const TriangleBvh& surface_;
    double resolution_;
    std::unordered_set<std::uint64_t> seen_;
};

std::vector<Ball> candidate_balls(const TriangleBvh& surface, const std::vector<Cell>& cells, double resolution) {
    Candidates candidates(surface, resolution);
    const std::size_t stride = 1 + cells.size() / max_candidates;
    for (std::size_t k = 0; k < cells.size(); k += stride) candidates.add(cells[k]);
    return std::move(candidates.balls);
}

// Greedy set cover: the ball with the most elements that are not covered yet, again and again, each moved to where it
// contains even more. Gains only fall, so a ball whose gain is still what the queue says is the best one.
class GreedyCover {
  public:
    GreedyCover(const TriangleBvh& surface, const CoverElements& elements, double resolution)
        : surface_(surface), elements_(elements), cover_(elements), resolution_(resolution) {}

    std::vector<Ball> run(const std::vector<Ball>& balls) {
        std::vector<Cover::Set> sets;
        std::priority_queue<std::pair<int, int>> queue;
        for (std::size_t k = 0; k < balls.size(); ++k) {
            sets.push_back(cover_.covered(balls[k]));
            queue.emplace(cover_.gain(sets.back()), -static_cast<int>(k));  // of equal ones the first
        }
        std::vector<Ball> chosen;
        while (!queue.empty() && queue.top().first > 0) {
            poll_interrupt();
            const auto [gain, key] = queue.top();
            queue.pop();
            const int now = cover_.gain(sets[-key]);
            if (now == gain) chosen.push_back(climb(balls[-key], gain));
            queue.emplace(cover_.gain(sets[-key]), key);
        }
        while (const CoverElement* element = cover_.first_uncovered()) {
            chosen.push_back(ball_about(*element));
            cover_.add(cover_.covered(chosen.back()));
        }
        return chosen;
    }

  private:
    // Moves a ball in steps of falling length, and marks what it contains then.
    Ball climb(Ball best, int gain) {
        Cover::Set set = cover_.covered(best);
        for (double step = 0.5 * resolution_; step > 0.05 * resolution_;) {
            bool moved = false;
            for (int k = 0; k < 6; ++k) {
                Vec3 centre = best.centre;
                centre[k / 2] += k % 2 ? step : -step;
                const Ball ball = largest_ball(centre, best.radius - resolution_ > step);
                Cover::Set other = cover_.covered(ball);
                const int now = cover_.gain(other);
                if (now > gain) best = ball, set = std::move(other), gain = now, moved = true;
            }
            if (!moved) step *= 0.5;
        }
        cover_.add(set);
        return best;
    }

    // A ball about the middle of an element that no candidate contains, such as those of thin sheets, which have no
    // interior: as large as the resolution allows, so that it contains many of them.
    Ball ball_about(const CoverElement& element) const {
        const Vec3& centre = element.bound.centre;
        const double needed = reach_of(elements_, element, centre) * (1 + 1e-12);
        return {centre, std::max(needed, resolution_ - surface_.nearest(centre).distance)};
    }

    // `is_near`: no surface is between the centre and a point inside.
    Ball largest_ball(const Vec3& centre, bool is_near) const {
        const double distance = surface_.nearest(centre).distance;
        return {centre, resolution_ + (is_near || surface_.inside(centre) ? distance : -distance)};
    }

    const TriangleBvh& surface_;
    const CoverElements& elements_;
    Cover cover_;
    double resolution_;
};

// Removes balls that the others make superfluous, and shrinks each to the elements that no other one contains.
std::vector<Ball> shrink(const CoverElements& cover, const std::vector<Ball>& balls) {
    std::vector<std::vector<int>> members(balls.size());
    std::vector<int> count(cover.elements.size(), 0);
    const Cover words(cover);
    for (std::size_t b = 0; b < balls.size(); ++b)
        for (Cover::Bits entry : words.covered(balls[b]))
            for (; entry.bits; entry.bits &= entry.bits - 1) {
                const std::size_t k = entry.word * std::size_t{word_size} + __builtin_ctzll(entry.bits);
                if (k < count.size()) members[b].push_back(static_cast<int>(k)), ++count[k];
            }
    std::vector<Ball> kept;
    for (std::size_t b = balls.size(); b-- > 0;) {
        const Vec3& centre = balls[b].centre;
        double radius = 0;
        for (int k : members[b])
            if (count[k] == 1) radius = std::max(radius, reach_of(cover, cover.elements[k], centre));
        for (int k : members[b])
            if (count[k] > 1 && reach_of(cover, cover.elements[k], centre) > radius) --count[k];
        if (radius > 0) kept.push_back({centre, radius + rounding});
    }
    return kept;
}

// About as many pieces as there are of all faces with edges longer than `size`.
double piece_count(const std::vector<Face>& faces, double size) {
    double count = 0;
    for (const Face& face : faces) {
        const Triangle& t = face.triangle;
        const double longest = std::sqrt(std::max({squared(t.b - t.a), squared(t.c - t.b), squared(t.a - t.c)}));
        if (longest > size) count += (longest + norm(cross(t.b - t.a, t.c - t.a)) / size) / size;
    }
    return count;
}

}  // namespace

double fit_bound(const TriangleBvh& surface, const std::vector<Face>& faces, double resolution) {
    const double extent = norm(surface.upper() - surface.lower());
    const double least = std::max(least_fit_resolution * std::sqrt(surface.area()), extent_fraction * extent);
    double bound = std::max(std::min(resolution, max_extents * extent), least) - rounding;
    while (piece_count(faces, patch_fraction * bound) > max_pieces) bound *= 1.25;
    const auto most = [&] { return max_cubes + max_cubes_of_area * surface.area() / (bound * bound); };
    while (static_cast<double>(occupied_cubes(surface, faces, bound)) > most()) bound *= 1.25;
    return bound;
}

std::vector<Ball> fit_spheres(const TriangleBvh& surface, const std::vector<Face>& faces, double resolution) {
    const double bound = fit_bound(surface, faces, resolution);
    CoverElements cover;
    const double layer =
        add_patches(surface, faces, patch_fraction * bound, thick_fraction * bound, thin_fraction * bound, cover);
    const std::vector<Cell> cells =
        add_interior(surface, cell_fraction * bound, layer, candidate_fraction * bound, cover);
    return shrink(cover, GreedyCover(surface, cover, bound).run(candidate_balls(surface, cells, bound)));
}

Overshoot measure_overshoot(const TriangleBvh& surface, const std::vector<Ball>& spheres) {
    constexpr int points = 100;
    constexpr double golden_angle = 2.399963229728653;
    std::vector<std::pair<double, double>> found;  // distance, area
    double total = 0;
    std::vector<Ball> others;  // those that overlap with one
    for (const Ball& ball : spheres) {
        others.clear();
        for (const Ball& other : spheres) {
            const double reach = ball.radius + other.radius;
            if (&other != &ball && squared(ball.centre - other.centre) < reach * reach) others.push_back(other);
        }
        for (int k = 0; k < points; ++k) {
            const double z = (2 * k + 1.0) / points - 1, r = std::sqrt(1 - z * z), angle = golden_angle * k;
            const Vec3 p = ball.centre + ball.radius * Vec3{r * std::cos(angle), r * std::sin(angle), z};
            const bool hidden = std::any_of(others.begin(), others.end(), [&](const Ball& other) {
                return squared(p - other.centre) < other.radius * other.radius;
            });
            if (hidden) continue;
            const double distance = surface.inside(p) ? 0 : surface.nearest(p).distance;
            found.emplace_back(distance, ball.radius * ball.radius);
            total += ball.radius * ball.radius;
        }
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
