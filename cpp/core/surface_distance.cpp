#include "core/surface_distance.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <tuple>

namespace kinodyn {

namespace {

constexpr double longest_edge = 0.04;           // [m] of triangles that are not divided
constexpr std::size_t many_triangles = 20'000;  // beyond which none are divided

double clamp(double x) { return std::min(std::max(x, 0.0), 1.0); }

// The shortest vector between two sets, and its square.
struct Gap {
    double square;
    Vec3 between;  // from the second to the first
};

Gap gap_of(const Vec3& between) { return {squared(between), between}; }

// C. Ericson, "Real-Time Collision Detection", 2005, section 5.1.9.
Gap segments(const Vec3& p, const Vec3& p_end, const Vec3& q, const Vec3& q_end) {
    const Vec3 d = p_end - p, e = q_end - q, r = p - q;
    const double a = squared(d), b = dot(d, e), c = dot(d, r), f = dot(e, r), g = squared(e);
    constexpr double tiny = 1e-24;
    double s = 0, t = 0;
    if (a <= tiny) {
        t = g <= tiny ? 0 : clamp(f / g);
    } else if (g <= tiny) {
        s = clamp(-c / a);
    } else {
        const double denominator = a * g - b * b;
        s = denominator > 1e-12 * a * g ? clamp((b * f - c * g) / denominator) : 0;
        t = (b * s + f) / g;
        if (t < 0) t = 0, s = clamp(-c / a);
        if (t > 1) t = 1, s = clamp((b - c) / a);
    }
    return gap_of(r + s * d - t * e);
}

bool projects_inside(const Vec3* t, const Vec3& normal, const Vec3& p) {
    for (int k = 0; k < 3; ++k)
        if (dot(cross(t[(k + 1) % 3] - t[k], p - t[k]), normal) < 0) return false;
    return true;
}

// The corners of a triangle relative to the plane of another face.
struct Heights {
    Heights(const Vec3* corners, const Vec3* face)
        : normal(cross(face[1] - face[0], face[2] - face[0])), length2(squared(normal)) {
        for (int k = 0; k < 3; ++k) height[k] = dot(corners[k] - face[0], normal);
    }
    // Lower bound of the distance of the triangles by the plane; NaN if the face is degenerate.
    double apart2() const {
        const double lowest = std::min({height[0], height[1], height[2]}),
                     highest = std::max({height[0], height[1], height[2]});
        const double apart = std::max({lowest, -highest, 0.0});
        return apart * apart / length2;
    }
    Vec3 normal;
    double length2, height[3];
};

// Distances of the corners of a triangle above the face of another; 0 if an edge passes through the face. `sign`: 1 if
// the corners are of the first triangle, -1 if the face is.
Gap corners_to_face(const Vec3* corners, const Vec3* face, const Heights& above, double sign, Gap best) {
    if (above.length2 == 0) return best;  // degenerate: the edges suffice
    for (int k = 0; k < 3; ++k) {
        const double height = above.height[k], next = above.height[(k + 1) % 3];
        if (height * height < best.square * above.length2 && projects_inside(face, above.normal, corners[k]))
            best = {height * height / above.length2, sign * height / above.length2 * above.normal};
        if ((height < 0) == (next < 0) || height == next) continue;
        const Vec3 crossing = corners[k] + (height / (height - next)) * (corners[(k + 1) % 3] - corners[k]);
        if (projects_inside(face, above.normal, crossing)) return {0, {}};
    }
    return best;
}

// The gap if its square is below `bound2`, else one whose square is not.
Gap triangles(const Vec3* a, const Vec3* b, double bound2) {
    const Heights of_a(a, b), of_b(b, a);
    Gap best{bound2, {}};
    if (of_a.apart2() >= bound2 || of_b.apart2() >= bound2) return best;
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) {
            const Gap edges = segments(a[i], a[(i + 1) % 3], b[k], b[(k + 1) % 3]);
            if (edges.square < best.square) best = edges;
        }
    best = corners_to_face(a, b, of_a, 1, best);
    return corners_to_face(b, a, of_b, -1, best);
}

// Halves triangles at their longest edges until these are short.
std::vector<Triangle> divided(std::vector<Triangle> triangles) {
    for (std::size_t k = 0; k < triangles.size() && triangles.size() < many_triangles;) {
        Triangle& t = triangles[k];
        const double ab = squared(t.b - t.a), bc = squared(t.c - t.b), ca = squared(t.a - t.c);
        if (std::max({ab, bc, ca}) <= longest_edge * longest_edge) {
            ++k;
            continue;
        }
        while (squared(t.b - t.a) < std::max({ab, bc, ca})) t = {t.b, t.c, t.a};
        const Vec3 middle = 0.5 * (t.a + t.b), corner = t.c, end = t.b;
        t.b = middle;
        triangles.push_back({middle, end, corner});
    }
    return triangles;
}

Vec3 centre_of(const Triangle& t) { return 0.5 * (min(t.a, min(t.b, t.c)) + max(t.a, max(t.b, t.c))); }

// A corner of each part of a surface that is connected by common corners.
std::vector<Vec3> corners_of_parts(const std::vector<Triangle>& triangles) {
    std::map<std::tuple<double, double, double>, int> number;
    std::vector<int> parent;
    const auto root = [&](int i) {
        while (parent[i] != i) i = parent[i] = parent[parent[i]];
        return i;
    };
    const auto index = [&](const Vec3& v) {
        const auto [place, added] = number.try_emplace({v.x, v.y, v.z}, static_cast<int>(parent.size()));
        if (added) parent.push_back(place->second);
        return place->second;
    };
    for (const Triangle& t : triangles) {
        const int a = root(index(t.a));
        parent[root(index(t.b))] = a;
        parent[root(index(t.c))] = a;
    }
    std::vector<Vec3> found;
    for (const auto& [v, i] : number)
        if (root(i) == i) found.push_back({std::get<0>(v), std::get<1>(v), std::get<2>(v)});
    return found;
}

}  // namespace

TriangleTree::TriangleTree(std::vector<Triangle> given) : triangles(divided(std::move(given))) {
    nodes.reserve(2 * triangles.size());
    build(0, static_cast<int>(triangles.size()));
    gather_descendants();
}

void TriangleTree::gather_descendants() {
    descendants_of_.assign(nodes.size(), -1);
    std::vector<int> open = {0};
    while (!open.empty()) {
        const int from = open.back();
        open.pop_back();
        if (nodes[from].triangle >= 0) continue;
        Descendants found{};
        for (float* half : {found.half[0], found.half[1], found.half[2]}) std::fill_n(half, 4, -1e30f);
        int n = 0;
        const auto add = [&](int node) {
            for (int i = 0; i < 3; ++i) {
                found.centre[i][n] = static_cast<float>(nodes[node].centre[i]);
                found.half[i][n] = static_cast<float>(nodes[node].half[i]);
            }
            found.node[n++] = node;
            open.push_back(node);
        };
        for (const int child : {from + 1, nodes[from].second}) {
            if (nodes[child].triangle >= 0)
                add(child);
            else
                add(child + 1), add(nodes[child].second);
        }
        descendants_of_[from] = static_cast<int>(descendants_.size());
        descendants_.push_back(found);
    }
}

void TriangleTree::build(int first, int count) {
    const auto begin = triangles.begin() + first, end = begin + count;
    Vec3 low = centre_of(*begin), high = low;
    for (auto t = begin; t != end; ++t) low = min(low, centre_of(*t)), high = max(high, centre_of(*t));
    Vec3 lower = begin->a, upper = lower;
    for (auto t = begin; t != end; ++t)
        for (const Vec3* v : {&t->a, &t->b, &t->c}) lower = min(lower, *v), upper = max(upper, *v);
    const std::size_t index = nodes.size();
    const Vec3 half = 0.5 * (upper - lower);
    nodes.push_back({0.5 * (lower + upper), half, norm(half), count == 1 ? first : -1, 0});
    if (count == 1) return;
    const Vec3 extent = high - low;
    const int axis = extent.x >= extent.y ? (extent.x >= extent.z ? 0 : 2) : (extent.y >= extent.z ? 1 : 2);
    std::nth_element(begin, begin + count / 2, end,
                     [axis](const Triangle& s, const Triangle& t) { return centre_of(s)[axis] < centre_of(t)[axis]; });
    build(first, count / 2);
    nodes[index].second = static_cast<int>(nodes.size());
    build(first + count / 2, count - count / 2);
}

Solid::Solid(const std::vector<Triangle>& triangles)
    : tree(triangles), surface(triangles), corners(corners_of_parts(triangles)) {}

bool Solid::contains_part(const Solid& other, const Transform& T) const {
    const Vec3 lower = surface.lower(), upper = surface.upper();
    return std::any_of(other.corners.begin(), other.corners.end(), [&](const Vec3& corner) {
        const Vec3 p = moved(T, corner);
        for (int k = 0; k < 3; ++k)
            if (p[k] < lower[k] || p[k] > upper[k]) return false;
        return surface.inside(p);
    });
}

namespace {

Gap triangle_gap(const Solid& first, const Solid& second, const Transform& T, int i, int j, double bound2) {
    const Triangle &t = first.tree.triangles[i], &u = second.tree.triangles[j];
    const Vec3 a[3] = {t.a, t.b, t.c}, b[3] = {moved(T, u.a), moved(T, u.b), moved(T, u.c)};
    return triangles(a, b, bound2);
}

bool nested_solids(const Solid& first, const Solid& second, const Transform& T) {
    return first.contains_part(second, T) || second.contains_part(first, relative(T, Transform{}));
}

// Distances of boxes of two trees, of which the second is placed by T; the axes of all boxes are those of the first.
class BoxGap {
  public:
    BoxGap(const TriangleTree& first, const TriangleTree& second, const Transform& T)
        : first_(first), second_(second), T_(T) {
        for (int k = 0; k < 9; ++k) size_[k] = std::fabs(T.R[k]);
    }
    // The shortest vector from a box of the second to one of the first.
    Vec3 between(int i, int j) const {
        const TriangleTree::Node &a = first_.nodes[i], &b = second_.nodes[j];
        const Vec3 c = a.centre - moved(T_, b.centre), &h = b.half;
        return {along(c.x, a.half.x + size_[0] * h.x + size_[1] * h.y + size_[2] * h.z),
                along(c.y, a.half.y + size_[3] * h.x + size_[4] * h.y + size_[5] * h.z),
                along(c.z, a.half.z + size_[6] * h.x + size_[7] * h.y + size_[8] * h.z)};
    }

  private:
    static double along(double c, double reach) { return std::copysign(std::max(std::fabs(c) - reach, 0.0), c); }

    const TriangleTree &first_, &second_;
    const Transform& T_;
    double size_[9];
};

// Boxes of two trees, of which the second is placed by T, that are not farther apart than a bound along the axes of
// either: four boxes of one tree against one of the other. Computed in float32; rounding makes the bound larger.
class NearBoxes {
  public:
    NearBoxes(const TriangleTree& first, const TriangleTree& second, const Transform& T, double bound) {
        for (int k = 0; k < 9; ++k) R_[k] = static_cast<float>(T.R[k]), size_[k] = std::fabs(R_[k]);
        for (int k = 0; k < 3; ++k) p_[k] = static_cast<float>(T.p[k]);
        const auto extent = [](const TriangleTree::Node& root) { return norm(root.centre) + norm(root.half); };
        const double size = extent(first.nodes[0]) + extent(second.nodes[0]) + norm(Vec3{T.p[0], T.p[1], T.p[2]});
        bound_ = static_cast<float>(bound + 2e-6 * size);
    }

    // Calls f(node) for boxes of the first tree that are near a box of the second.
    template <class F>
    void in_first(const TriangleTree::Descendants& boxes, const TriangleTree::Node& other, F&& f) const {
        const Box b(other);
        const Four c[3] = {centre(b, 0) - load(boxes.centre[0]), centre(b, 1) - load(boxes.centre[1]),
                           centre(b, 2) - load(boxes.centre[2])};
        const Four half[3] = {load(boxes.half[0]), load(boxes.half[1]), load(boxes.half[2])};
        Mask near = ~Mask{};
        for (int i = 0; i < 3; ++i) {
            const float* s = size_ + 3 * i;
            near &= within(c[i], half[i] + (s[0] * b.half[0] + s[1] * b.half[1] + s[2] * b.half[2]));
            near &= within(R_[i] * c[0] + R_[3 + i] * c[1] + R_[6 + i] * c[2],
                           b.half[i] + size_[i] * half[0] + size_[3 + i] * half[1] + size_[6 + i] * half[2]);
        }
        visit(near, boxes, f);
    }

    // The same for boxes of the second tree and a box of the first.
    template <class F>
    void in_second(const TriangleTree::Descendants& boxes, const TriangleTree::Node& other, F&& f) const {
        const Box a(other);
        const Four x = load(boxes.centre[0]), y = load(boxes.centre[1]), z = load(boxes.centre[2]);
        const Four half[3] = {load(boxes.half[0]), load(boxes.half[1]), load(boxes.half[2])};
        Four c[3];
        for (int i = 0; i < 3; ++i)
            c[i] = R_[3 * i] * x + R_[3 * i + 1] * y + R_[3 * i + 2] * z + (p_[i] - a.centre[i]);
        Mask near = ~Mask{};
        for (int i = 0; i < 3; ++i) {
            const float* s = size_ + 3 * i;
            near &= within(c[i], a.half[i] + s[0] * half[0] + s[1] * half[1] + s[2] * half[2]);
            near &= within(R_[i] * c[0] + R_[3 + i] * c[1] + R_[6 + i] * c[2],
                           half[i] + (size_[i] * a.half[0] + size_[3 + i] * a.half[1] + size_[6 + i] * a.half[2]));
        }
        visit(near, boxes, f);
    }

  private:
    typedef float Four __attribute__((vector_size(16)));
    typedef int Mask __attribute__((vector_size(16)));
    struct Box {
        explicit Box(const TriangleTree::Node& node) {
            for (int i = 0; i < 3; ++i)
                centre[i] = static_cast<float>(node.centre[i]), half[i] = static_cast<float>(node.half[i]);
        }
        float centre[3], half[3];
    };

    static Four load(const float* from) {
        Four values;
        std::memcpy(&values, from, sizeof values);
        return values;
    }
    float centre(const Box& b, int i) const {
        const float* row = R_ + 3 * i;
        return row[0] * b.centre[0] + row[1] * b.centre[1] + row[2] * b.centre[2] + p_[i];
    }
    Mask within(Four apart, Four reach) const {
        reach += bound_;
        return (apart <= reach) & (-reach <= apart);
    }
    template <class F>
    static void visit(Mask near, const TriangleTree::Descendants& boxes, F&& f) {
        for (int k = 0; k < 4; ++k)
            if (near[k]) f(boxes.node[k]);
    }

    float R_[9], size_[9], p_[3], bound_;
};

}  // namespace

bool nearer_than(const Solid& first, const Solid& second, const Transform& T, double bound) {
    struct NodePair {
        int i, j;
    };
    static thread_local std::vector<NodePair> stack;
    const double bound2 = bound * bound;
    const NearBoxes near(first.tree, second.tree, T, bound);
    stack.assign(1, {0, 0});
    while (!stack.empty()) {
        const int i = stack.back().i, j = stack.back().j;
        stack.pop_back();
        const TriangleTree::Node &a = first.tree.nodes[i], &b = second.tree.nodes[j];
        if (a.triangle >= 0 && b.triangle >= 0) {
            if (triangle_gap(first, second, T, a.triangle, b.triangle, bound2).square < bound2) return true;
        } else if (b.triangle >= 0 || (a.triangle < 0 && squared(a.half) > squared(b.half))) {
            near.in_first(first.tree.descendants(i), b, [&](int child) { stack.push_back({child, j}); });
        } else {
            near.in_second(second.tree.descendants(j), a, [&](int child) { stack.push_back({i, child}); });
        }
    }
    return nested_solids(first, second, T);
}

bool SurfaceDistance::nested(const Transform& T) const { return nested_solids(first_, second_, T); }

template <class Movement, class Approach>
double SurfaceDistance::smallest(const Transform& T, double bound, double tolerance, double most, Movement&& movement,
                                 Approach&& approach) {
    double best = bound;
    const TriangleTree &first = first_.tree, &second = second_.tree;
    const BoxGap gap(first, second, T);
    const auto remaining = [&](int i, int j, const Vec3& between, double apart) {
        const double lower = apart - movement(i, j);
        return lower >= best || apart == 0 ? lower : std::max(lower, apart - approach(j, (1 / apart) * between));
    };
    const auto measure = [&](int i, int j) {  // two leaves
        const double reach = best + movement(i, j);
        const Gap found =
            triangle_gap(first_, second_, T, first.nodes[i].triangle, second.nodes[j].triangle, reach * reach);
        if (found.square >= reach * reach) return;
        const double left = remaining(i, j, found.between, std::sqrt(found.square));
        if (left < best) best = left, nearest_[0] = i, nearest_[1] = j;
    };
    const auto lower_bound = [&](int i, int j) {
        const Vec3 between = gap.between(i, j);
        const double apart = norm(between);
        return apart - most >= best - tolerance ? best : remaining(i, j, between, apart);
    };
    if (first.nodes[nearest_[0]].triangle >= 0 && second.nodes[nearest_[1]].triangle >= 0)
        measure(nearest_[0], nearest_[1]);
    stack_.assign(1, {0, 0, lower_bound(0, 0)});
    const auto push_both = [&](int i, int j, int i2, int j2) {
        Entry near{i, j, lower_bound(i, j)}, far{i2, j2, lower_bound(i2, j2)};
        if (far.gap < near.gap) std::swap(near, far);
        for (const Entry& entry : {far, near})
            if (entry.gap < best - tolerance) stack_.push_back(entry);
    };
    while (!stack_.empty() && best > 0) {
        const auto [i, j, lower] = stack_.back();
        stack_.pop_back();
        if (lower >= best - tolerance) continue;
        const TriangleTree::Node &a = first.nodes[i], &b = second.nodes[j];
        if (a.triangle >= 0 && b.triangle >= 0)
            measure(i, j);
        else if (b.triangle >= 0 || (a.triangle < 0 && squared(a.half) > squared(b.half)))
            push_both(i + 1, j, a.second, j);
        else
            push_both(i, j + 1, i, b.second);
    }
    return std::max(best - tolerance, 0.0);
}

double SurfaceDistance::distance(const Transform& T, double bound, double tolerance) {
    const auto at_rest = [](int, const auto&) { return 0.0; };
    return smallest(T, bound, tolerance, 0, at_rest, at_rest);
}

double SurfaceDistance::clearance(const Transform& T, const std::vector<JointSpan>& spans, double bound,
                                  double tolerance) {
    const auto lever = [](const JointSpan& span, const Vec3& centre, double radius) {
        return norm(cross(centre - span.origin, span.direction)) + radius;
    };
    std::vector<double> before;  // how far points of the second solid were moved before each joint, at most
    double displaced = 0;
    for (const JointSpan& span : spans) {
        before.push_back(displaced);
        const TriangleTree::Node& all = second_.tree.nodes[0];
        displaced += span.amount * (span.slides ? 1 : lever(span, moved(T, all.centre), all.radius) + displaced);
    }
    const auto movement = [&](int i, int j) {
        const TriangleTree::Node &a = first_.tree.nodes[i], &b = second_.tree.nodes[j];
        const Vec3 centre = moved(T, b.centre);
        double sum = 0;
        for (std::size_t k = 0; k < spans.size(); ++k) {
            const JointSpan& span = spans[k];
            const auto farthest = [&] {
                return std::min(lever(span, a.centre, a.radius), lever(span, centre, b.radius) + before[k]);
            };
            sum += span.amount * (span.slides ? 1 : farthest());
        }
        return sum;
    };
    // Of a rotation about an axis by an angle, the displacement of a point at r is the angle times axis x r, and less
    // than half of the square of the angle times the distance from the axis besides.
    const auto approach = [&](int j, const Vec3& direction) {
        const TriangleTree::Node& b = second_.tree.nodes[j];
        const Vec3 centre = moved(T, b.centre);
        double sum = 0, moved_before = 0;
        for (const JointSpan& span : spans) {
            if (span.slides) {
                sum += span.amount * std::fabs(dot(span.direction, direction));
                moved_before += span.amount;
                continue;
            }
            const Vec3 tangent = cross(span.direction, centre - span.origin);
            const double radius = norm(tangent) + b.radius + moved_before;
            const double sine = norm(cross(span.direction, direction));
            const double along = std::fabs(dot(tangent, direction)) + (b.radius + moved_before) * sine;
            sum += span.amount * std::min(along + 0.5 * span.amount * radius, radius);
            moved_before += span.amount * radius;
        }
        return sum;
    };
    return smallest(T, bound, tolerance, movement(0, 0), movement, approach);
}

}  // namespace kinodyn
