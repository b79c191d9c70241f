#include "core/triangle_bvh.hpp"

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

namespace kinodyn {

namespace {

constexpr int leaf_size = 4;
constexpr int max_depth = 64;
constexpr double pi = 3.14159265358979323846;

Vec3 centroid(const Triangle& t) { return (1.0 / 3.0) * (t.a + t.b + t.c); }

// Sums solid angles of triangles (A. Van Oosterom, J. Strackee 1983). Small ones are multiplied as complex numbers
// first: most of the time would be spent on arctangents.
class SolidAngle {
  public:
    explicit SolidAngle(const Vec3& p) : p_(p) {}

    void add(const Triangle& t) {
        const Vec3 a = t.a - p_, b = t.b - p_, c = t.c - p_;
        const double la = norm(a), lb = norm(b), lc = norm(c);
        const double sine = dot(a, cross(b, c));
        const double cosine = la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb;
        if (cosine <= 4 * std::fabs(sine)) {
            if (sine != 0 || cosine != 0) sum_ += 2 * std::atan2(sine, cosine);
            return;
        }
        // half the angle is below 1/4: of ten the sum stays below pi
        const double tangent = sine / cosine, real = real_ - imaginary_ * tangent;
        imaginary_ = imaginary_ + real_ * tangent, real_ = real;
        if (++count_ == 10) flush();
    }

    double total() {
        flush();
        return sum_;
    }

  private:
    void flush() {
        sum_ += 2 * std::atan2(imaginary_, real_);
        real_ = 1, imaginary_ = 0, count_ = 0;
    }

    Vec3 p_;
    double sum_ = 0, real_ = 1, imaginary_ = 0;
    int count_ = 0;
};

bool is_before(const Vec3& a, const Vec3& b) { return std::tie(a.x, a.y, a.z) < std::tie(b.x, b.y, b.z); }

bool is_closed(const std::vector<Triangle>& triangles) {
    struct Edge {
        Vec3 first, second;
        int direction;
    };
    std::vector<Edge> edges;
    edges.reserve(3 * triangles.size());
    for (const Triangle& t : triangles)
        for (const auto& [a, b] : {std::pair(t.a, t.b), std::pair(t.b, t.c), std::pair(t.c, t.a)})
            edges.push_back(is_before(a, b) ? Edge{a, b, 1} : Edge{b, a, -1});
    const auto precedes = [](const Edge& e, const Edge& f) {
        return is_before(e.first, f.first) || (!is_before(f.first, e.first) && is_before(e.second, f.second));
    };
    std::sort(edges.begin(), edges.end(), precedes);
    int sum = 0;
    for (std::size_t k = 0; k < edges.size(); ++k) {
        if (k > 0 && precedes(edges[k - 1], edges[k]) && sum != 0) return false;
        sum += edges[k].direction;
    }
    return sum == 0;
}

// The turn of an edge about a vertical line, counted where it crosses the x axis. That of the edge from b to a is
// exactly opposite: a line between two triangles crosses one of them.
int edge_turn(const Vec3& a, const Vec3& b) {
    const double side = a.x * b.y - b.x * a.y;
    if (a.y <= 0) return b.y > 0 && side > 0 ? 1 : 0;
    return b.y <= 0 && side < 0 ? -1 : 0;
}

}  // namespace

// C. Ericson, "Real-Time Collision Detection", 2005, section 5.1.5: by the Voronoi regions of the triangle.
Vec3 nearest_on(const Triangle& t, const Vec3& p) {
    const Vec3 ab = t.b - t.a, ac = t.c - t.a, ap = p - t.a;
    const double d1 = dot(ab, ap), d2 = dot(ac, ap);
    if (d1 <= 0 && d2 <= 0) return t.a;
    const Vec3 bp = p - t.b;
    const double d3 = dot(ab, bp), d4 = dot(ac, bp);
    if (d3 >= 0 && d4 <= d3) return t.b;
    const double vc = d1 * d4 - d3 * d2;
    if (vc <= 0 && d1 >= 0 && d3 <= 0) return t.a + (d1 / (d1 - d3)) * ab;
    const Vec3 cp = p - t.c;
    const double d5 = dot(ab, cp), d6 = dot(ac, cp);
    if (d6 >= 0 && d5 <= d6) return t.c;
    const double vb = d5 * d2 - d1 * d6;
    if (vb <= 0 && d2 >= 0 && d6 <= 0) return t.a + (d2 / (d2 - d6)) * ac;
    const double va = d3 * d6 - d5 * d4;
    if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) {
        const double along = (d4 - d3) + (d5 - d6);
        return along > 0 ? t.b + ((d4 - d3) / along) * (t.c - t.b) : t.b;
    }
    const double sum = va + vb + vc;
    return sum > 0 ? t.a + (vb / sum) * ab + (vc / sum) * ac : t.a;
}

TriangleBvh::TriangleBvh(std::vector<Triangle> triangles) : triangles_(std::move(triangles)) {
    nodes_.reserve(triangles_.size());
    nodes_.emplace_back();
    build(0, 0, static_cast<int>(triangles_.size()));
    flat_ = is_flat();
    closed_ = is_closed(triangles_);
}

bool TriangleBvh::is_flat() const {
    constexpr double rounding = 1e-12;  // of the extent
    Vec3 normal{};
    for (const Triangle& t : triangles_) {
        const Vec3 other = cross(t.b - t.a, t.c - t.a);
        if (squared(other) > squared(normal)) normal = other;
    }
    const Vec3 origin = triangles_[0].a;
    const double most = rounding * norm(upper() - lower()) * norm(normal);
    return std::all_of(triangles_.begin(), triangles_.end(), [&](const Triangle& t) {
        return std::fabs(dot(t.a - origin, normal)) <= most && std::fabs(dot(t.b - origin, normal)) <= most &&
               std::fabs(dot(t.c - origin, normal)) <= most;
    });
}

void TriangleBvh::build(int node, int first, int count) {
    nodes_[node].first = first, nodes_[node].count = count;
    measure(nodes_[node]);
    if (count <= leaf_size) return;
    Vec3 low = centroid(triangles_[first]), high = low;
    for (int k = first; k < first + count; ++k) {
        low = min(low, centroid(triangles_[k]));
        high = max(high, centroid(triangles_[k]));
    }
    const Vec3 extent = high - low;
    const int axis = extent.x >= extent.y ? (extent.x >= extent.z ? 0 : 2) : (extent.y >= extent.z ? 1 : 2);
    const int half = count / 2;  // halves of equal number bound the depth
    std::nth_element(triangles_.begin() + first, triangles_.begin() + first + half, triangles_.begin() + first + count,
                     [axis](const Triangle& s, const Triangle& t) { return centroid(s)[axis] < centroid(t)[axis]; });
    const int child = static_cast<int>(nodes_.size());
    nodes_.resize(nodes_.size() + 2);
    nodes_[node].first = child, nodes_[node].count = 0;
    build(child, first, half);
    build(child + 1, first + half, count - half);
}

void TriangleBvh::measure(Node& node) const {
    node.lower = {1e300, 1e300, 1e300}, node.upper = {-1e300, -1e300, -1e300};
    node.centroid = node.dipole = {};
    node.area = 0;
    const Triangle* begin = triangles_.data() + node.first;
    for (const Triangle* t = begin; t != begin + node.count; ++t) {
        node.lower = min(node.lower, min(t->a, min(t->b, t->c)));
        node.upper = max(node.upper, max(t->a, max(t->b, t->c)));
        const Vec3 normal = 0.5 * cross(t->b - t->a, t->c - t->a);
        const double area = norm(normal);
        node.area += area;
        node.dipole = node.dipole + normal;
        node.centroid = node.centroid + area * centroid(*t);
    }
    node.centroid = node.area > 0 ? (1 / node.area) * node.centroid : 0.5 * (node.lower + node.upper);
    double farthest = 0;
    for (const Triangle* t = begin; t != begin + node.count; ++t)
        for (const Vec3* corner : {&t->a, &t->b, &t->c})
            farthest = std::max(farthest, squared(*corner - node.centroid));
    node.radius = std::sqrt(farthest);
}

double TriangleBvh::box_distance2(const Node& node, const Vec3& p) const {
    const Vec3 outside = max(max(node.lower - p, p - node.upper), {});
    return squared(outside);
}

template <class Visit>
TriangleBvh::Nearest TriangleBvh::find_nearest(const Vec3& p, double bound, double enough, Visit&& visit) const {
    struct Entry {
        int node;
        double distance2;
    };
    Entry stack[max_depth];
    int size = 0;
    double best = bound * bound;
    Vec3 point = p;
    stack[size++] = {0, box_distance2(nodes_[0], p)};
    while (size > 0 && best > enough * enough) {
        const Entry entry = stack[--size];
        if (entry.distance2 >= best) continue;
        visit();
        const Node& node = nodes_[entry.node];
        if (node.count > 0) {
            for (int k = node.first; k < node.first + node.count; ++k) {
                const Vec3 candidate = nearest_on(triangles_[k], p);
                const double distance2 = squared(candidate - p);
                if (distance2 < best) best = distance2, point = candidate;
            }
            continue;
        }
        Entry near{node.first, box_distance2(nodes_[node.first], p)};
        Entry far{node.first + 1, box_distance2(nodes_[node.first + 1], p)};
        if (far.distance2 < near.distance2) std::swap(near, far);
        stack[size++] = far;
        stack[size++] = near;
    }
    return {point, std::sqrt(best)};
}

TriangleBvh::Lowest TriangleBvh::lowest(const double* points, std::size_t n) const {
    const auto point = [points](std::size_t k) { return Vec3{points[3 * k], points[3 * k + 1], points[3 * k + 2]}; };
    // Far inside a rough surface, thousands of triangles are nearly as near as the nearest one, and near an open one
    // the test of inside is slow. The points that may be the deepest come first, according to the first triangles that
    // a search meets; the others end theirs soon.
    std::vector<std::pair<double, std::size_t>> bounds;
    for (std::size_t k = 0; k < n; ++k)
        if (box_distance2(nodes_[0], point(k)) == 0)
            bounds.emplace_back(find_nearest(point(k), 1e300, 1e150, [] {}).distance, k);
    std::sort(bounds.begin(), bounds.end(), std::greater<>());
    Lowest best{1e300, 0};
    for (const auto& [bound, k] : bounds) {
        const double deepest = std::max(-best.distance, 0.0);
        if (bound < deepest) break;
        const double depth = find_nearest(point(k), 1e300, deepest, [] {}).distance;
        if (-depth < best.distance && inside(point(k))) best = {-depth, k};
    }
    if (best.distance <= 0) return best;
    for (std::size_t k = 0; k < n; ++k) {
        const double found = nearest(point(k), best.distance).distance;
        if (found < best.distance) best = {found, k};
    }
    return best;
}

template <class Visit>
int TriangleBvh::turns_above(const Vec3& p, Visit&& visit) const {
    int stack[max_depth];
    int size = 0, turns = 0;
    stack[size++] = 0;
    while (size > 0) {
        const Node& node = nodes_[stack[--size]];
        if (node.upper.z < p.z || node.lower.x > p.x || node.upper.x < p.x || node.lower.y > p.y || node.upper.y < p.y)
            continue;
        visit();
        if (node.count == 0) {
            stack[size++] = node.first;
            stack[size++] = node.first + 1;
            continue;
        }
        for (int k = node.first; k < node.first + node.count; ++k) {
            const Vec3 a = triangles_[k].a - p, b = triangles_[k].b - p, c = triangles_[k].c - p;
            const int turn = edge_turn(a, b) + edge_turn(b, c) + edge_turn(c, a);
            if (turn == 0) continue;
            const double wa = b.x * c.y - c.x * b.y, wb = c.x * a.y - a.x * c.y, wc = a.x * b.y - b.x * a.y;
            const double sum = wa + wb + wc, height = wa * a.z + wb * b.z + wc * c.z;
            if (sum != 0 ? height * sum > 0 : a.z > 0) turns += turn;
        }
    }
    return turns;
}

// G. Barill et al., "Fast winding numbers for soups and clouds", 2018, with the first term of the expansion.
template <class Visit>
double TriangleBvh::sum_angles(const Vec3& p, Visit&& visit) const {
    constexpr double far = 2;  // radii; the error of a term falls with its third power
    int stack[max_depth];
    int size = 0;
    double angle = 0;
    SolidAngle near(p);
    stack[size++] = 0;
    while (size > 0) {
        visit();
        const Node& node = nodes_[stack[--size]];
        const Vec3 offset = node.centroid - p;
        const double distance2 = squared(offset);
        if (distance2 > far * far * node.radius * node.radius) {
            angle += dot(offset, node.dipole) / (distance2 * std::sqrt(distance2));
        } else if (node.count > 0) {
            for (int k = node.first; k < node.first + node.count; ++k) near.add(triangles_[k]);
        } else {
            stack[size++] = node.first;
            stack[size++] = node.first + 1;
        }
    }
    return angle + near.total();
}

template <class Visit>
bool TriangleBvh::is_inside(const Vec3& p, Visit&& visit) const {
    if (flat_ || box_distance2(nodes_[0], p) > 0) return false;
    return closed_ ? turns_above(p, visit) != 0 : std::fabs(sum_angles(p, visit)) > 2 * pi;
}

TriangleBvh::Nearest TriangleBvh::nearest(const Vec3& p, double bound) const {
    return find_nearest(p, bound, 0, [] {});
}

double TriangleBvh::winding_number(const Vec3& p) const {
    return sum_angles(p, [] {}) / (4 * pi);
}

bool TriangleBvh::inside(const Vec3& p) const {
    return is_inside(p, [] {});
}

double TriangleBvh::search_cost() const {
    constexpr std::size_t samples = 200;
    constexpr double offset = 0.01;  // of the extent, in directions that differ from sample to sample
    const double length = offset * norm(upper() - lower());
    const std::size_t stride = 1 + triangles_.size() / samples;
    std::size_t visits = 0, count = 0;
    const auto visit = [&] { ++visits; };
    for (std::size_t k = 0; k < triangles_.size(); k += stride, ++count) {
        const double angle = static_cast<double>(count);
        const Vec3 aside = length * Vec3{std::cos(angle), std::sin(angle), std::cos(2 * angle)};
        const Vec3 p = centroid(triangles_[k]) + aside;
        find_nearest(p, 1e300, 0, visit);
        is_inside(p, visit);
    }
    return static_cast<double>(visits) / static_cast<double>(count);
}

}  // namespace kinodyn
