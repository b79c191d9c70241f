// Spheres against surfaces: a lookup in the distance grid for all lanes at once, and the box tree for those
// lanes that are close.
#pragma once

#include "core/collision.hpp"
#include "kernels/float_pack.hpp"

namespace kinodyn::KINODYN_TARGET {

struct LaneSphere {
    Vec3<FloatPack> c;
    FloatPack r;
};

inline FloatPack square(FloatPack a) { return a * a; }

// Bit mask of the sixteen elements for which touches(k) holds, k being the first of each pack.
template <class Touches>
inline unsigned block_bits(Touches&& touches) {
    unsigned all = 0;
    for (int k = 0; k < box_fanout; k += float_lanes) all |= bits(touches(k)) << k;
    return all;
}

inline FloatPack load(const float* p) {
    FloatPack result;
    __builtin_memcpy(&result, p, sizeof result);
    return result;
}
inline Vec3<FloatPack> load(const float (*p)[box_fanout], int k) {
    return {load(p[0] + k), load(p[1] + k), load(p[2] + k)};
}

// Bytes of a table, padded by three bytes that may be read.
inline FloatMask bytes_at(const std::uint8_t* table, FloatMask index) {
#if KINODYN_LANES == 8 && defined(__AVX512F__)
    return (FloatMask)_mm512_i32gather_epi32((__m512i)index, table, 1) & 255;
#elif KINODYN_LANES == 4 && defined(__AVX2__)
    return (FloatMask)_mm256_i32gather_epi32(reinterpret_cast<const int*>(table), (__m256i)index, 1) & 255;
#else
    FloatMask result;
    for (int i = 0; i < float_lanes; ++i) result[i] = table[index[i]];
    return result;
#endif
}

// Words of 16 bits of a table, padded by two bytes that may be read.
inline FloatMask words_at(const std::uint16_t* table, FloatMask index) {
#if KINODYN_LANES == 8 && defined(__AVX512F__)
    return (FloatMask)_mm512_i32gather_epi32((__m512i)index, table, 2) & 0xffff;
#elif KINODYN_LANES == 4 && defined(__AVX2__)
    return (FloatMask)_mm256_i32gather_epi32(reinterpret_cast<const int*>(table), (__m256i)index, 2) & 0xffff;
#else
    FloatMask result;
    for (int i = 0; i < float_lanes; ++i) result[i] = table[index[i]];
    return result;
#endif
}

// One sphere against sixteen boxes, points or triangles.
struct SurfaceSphere {
    Vec3<float> c;
    float square;

    unsigned touched(const BoxBlock& block) const {
        return block_bits([&](int k) {
            const Vec3<FloatPack> low = load(block.lower, k), high = load(block.upper, k);
            const auto beyond = [](FloatPack from, FloatPack to, float x) {
                return larger(positive_part(from - x), FloatPack(x) - to);
            };
            const Vec3<FloatPack> d = {beyond(low.x, high.x, c.x), beyond(low.y, high.y, c.y),
                                       beyond(low.z, high.z, c.z)};
            return dot(d, d) <= square;
        });
    }

    bool touches(const PointBlock& block) const {
        return block_bits([&](int k) {
                   const Vec3<FloatPack> d = load(block.p, k) - c;
                   return dot(d, d) <= square;
               }) != 0;
    }

    bool touches(const TriangleBlock& block) const {
        return block_bits([&](int k) {
                   const Vec3<FloatPack> a = load(block.corner[0], k) - c, b = load(block.corner[1], k) - c,
                                         d = load(block.corner[2], k) - c;
                   return near_edge(a, b) | near_edge(b, d) | near_edge(d, a) | below(a, b, d);
               }) != 0;
    }

    // Points begin, begin + 1, ..., end - 1 of a cloud, and maybe some that follow them.
    bool touches(const CellPoints& points, std::uint32_t begin, std::uint32_t end) const {
        for (std::uint32_t p = begin; p < end; p += float_lanes) {
            const Vec3<FloatPack> d = {load(points.coordinates(0) + p) - c.x, load(points.coordinates(1) + p) - c.y,
                                       load(points.coordinates(2) + p) - c.z};
            if (bits(dot(d, d) <= square) != 0) return true;
        }
        return false;
    }

  private:
    // Corners are relative to the centre of the sphere.
    FloatMask near_edge(const Vec3<FloatPack>& a, const Vec3<FloatPack>& b) const {
        const Vec3<FloatPack> along = b - a;
        const FloatPack t = clamp(-dot(a, along) / dot(along, along), 0.0f, 1.0f);
        const Vec3<FloatPack> nearest = a + t * along;
        return dot(nearest, nearest) <= square;
    }
    // Whether the projection onto the plane of a triangle is inside the triangle, and close.
    FloatMask below(const Vec3<FloatPack>& a, const Vec3<FloatPack>& b, const Vec3<FloatPack>& d) const {
        const Vec3<FloatPack> n = cross(b - a, d - a);
        const FloatPack height = dot(n, a), length2 = dot(n, n);
        const auto within = [&](const Vec3<FloatPack>& from, const Vec3<FloatPack>& to) {
            return FloatPack(0.0f) <= dot(n, cross(from, to));
        };
        return (height * height <= square * length2) & (FloatPack(0.0f) < length2) & within(a, b) & within(b, d) &
               within(d, a);
    }
};

// The cell of a grid in which a point is, in each lane; beyond the grid, the nearest one.
struct GridCell {
    FloatMask i, j, k;

    // `x` in units of cells.
    GridCell(const DistanceGrid& grid, const Vec3<FloatPack>& x)
        : i(index(x.x, grid.n[0])), j(index(x.y, grid.n[1])), k(index(x.z, grid.n[2])) {}

    FloatMask place(const DistanceGrid& grid) const { return (k * grid.n[1] + j) * grid.n[0] + i; }
    Vec3<FloatPack> centre() const { return {middle(i), middle(j), middle(k)}; }

  private:
    static FloatMask index(FloatPack x, int n) { return truncated(clamp(x, 0.0f, static_cast<float>(n) - 0.5f)); }
    static FloatPack middle(FloatMask at) { return FloatPack(__builtin_convertvector(at, FloatPack::Vector)) + 0.5f; }
};

struct DistanceBounds {
    FloatPack lower, upper;
};

// Words of 16 bits of a table and the ones after them, in the upper half; padded by two bytes that may be read.
inline FloatMask word_pairs_at(const std::uint16_t* table, FloatMask index) {
#if KINODYN_LANES == 8 && defined(__AVX512F__)
    return (FloatMask)_mm512_i32gather_epi32((__m512i)index, table, 2);
#elif KINODYN_LANES == 4 && defined(__AVX2__)
    return (FloatMask)_mm256_i32gather_epi32(reinterpret_cast<const int*>(table), (__m256i)index, 2);
#else
    FloatMask result;
    for (int i = 0; i < float_lanes; ++i)
        result[i] = static_cast<int>(table[index[i]] | static_cast<unsigned>(table[index[i] + 1]) << 16);
    return result;
#endif
}

// Bounds of the distance from points in the box of a cloud to the points of the cloud, by cells near them. Lengths are
// in units of cells.
class CloudCells {
  public:
    CloudCells(const Surface& surface, const Vec3<FloatPack>& p)
        : grid_(surface.grid()), words_(surface.bounds().words()), x_(grid_.inverse * p) {}

    // By the cell of the point [m].
    DistanceBounds bounds() const { return scaled(bounds_from(x_)); }

    // By the eight cells around the point too, and by one in the direction in which distances grow, where the lower
    // bound loses least, and one in the opposite direction for the upper bound [m].
    DistanceBounds refined_bounds() const {
        Interpolation around = interpolate();
        around.lower = larger(around.lower, bounds_from(x_ + 2.0f * around.uphill).lower);
        return scaled({around.lower, bounds_from(x_ - around.lower * around.uphill).upper});
    }

  private:
    static constexpr float unit = 1.0f / DistanceGrid::steps;

    DistanceBounds scaled(const DistanceBounds& b) const { return {grid_.cell * b.lower, grid_.cell * b.upper}; }

    // Bounds for the point by the cell at x.
    DistanceBounds bounds_from(const Vec3<FloatPack>& x) const {
        const GridCell cell(grid_, x);
        const Vec3<FloatPack> d = x_ - cell.centre();
        const FloatPack apart = root(dot(d, d));
        const FloatMask word = words_at(words_, cell.place(grid_)), high = word >> 8;
        const FloatPack upper = FloatPack(__builtin_convertvector(high, FloatPack::Vector)) * unit + apart;
        return {byte(word) - apart, select(high == CloudBounds::unknown, __builtin_inff(), upper)};
    }

    // The lower bound of a word.
    static FloatPack byte(FloatMask word) {
        const FloatMask low = word & 255;
        return unit * FloatPack(__builtin_convertvector(low, FloatPack::Vector));
    }

    struct Interpolation {
        FloatPack lower;
        Vec3<FloatPack> uphill;  // a unit vector, or shorter
    };

    // With d the distance to the nearest point, d(x)^2 - |x|^2 is the least of functions that are linear in x, thus
    // concave: between centres of cells it is at least what their values give by interpolation. For weights w of
    // centres c around x this means d(x)^2 >= sum w d(c)^2 - sum w |c - x|^2.
    Interpolation interpolate() const {
        const Fraction x(x_.x, grid_.n[0]), y(x_.y, grid_.n[1]), z(x_.z, grid_.n[2]);
        const FloatMask place = (z.cell * grid_.n[1] + y.cell) * grid_.n[0] + x.cell;
        const int row = grid_.n[1] > 1 ? grid_.n[0] : 0, plane = grid_.n[2] > 1 ? grid_.n[0] * grid_.n[1] : 0;
        const Edge low = edge(place, x.t), high = edge(place + row, x.t), low_above = edge(place + plane, x.t),
                   high_above = edge(place + row + plane, x.t);
        const auto mix = [](FloatPack a, FloatPack b, FloatPack t) { return a + t * (b - a); };
        const FloatPack squares =
            mix(mix(low.square, high.square, y.t), mix(low_above.square, high_above.square, y.t), z.t);
        const FloatPack spread = x.t * (1.0f - x.t) + y.t * (1.0f - y.t) + z.t * (1.0f - z.t);
        const Vec3<FloatPack> g = {low.rise + high.rise + low_above.rise + high_above.rise,
                                   (high.sum - low.sum) + (high_above.sum - low_above.sum),
                                   (low_above.sum - low.sum) + (high_above.sum - high.sum)};
        const Vec3<FloatPack> beyond = {x.beyond, y.beyond, z.beyond};
        return {root(positive_part(squares - spread)) - root(dot(beyond, beyond)),
                (FloatPack(1.0f) / root(dot(g, g) + 1e-6f)) * g};
    }

    // Position between two centres of cells along an axis: the first one, and how far towards the next. Within half a
    // cell of the border of the grid there is one only; then the distance from it.
    struct Fraction {
        Fraction(FloatPack x, int n) {
            const auto last = static_cast<float>(n - 1);
            const FloatPack from = x - 0.5f, at = clamp(from, 0.0f, last);
            cell = truncated(clamp(at, 0.0f, last > 1 ? last - 1 : 0.0f));
            t = at - FloatPack(__builtin_convertvector(cell, FloatPack::Vector));
            beyond = from - at;
        }
        FloatMask cell;
        FloatPack t, beyond;
    };

    // Lower bounds of two cells that are neighbours along x: the square interpolated between them, and how they differ.
    struct Edge {
        FloatPack square, rise, sum;
    };
    Edge edge(FloatMask place, FloatPack t) const {
        const FloatMask words = word_pairs_at(words_, place);
        const FloatPack a = byte(words), b = byte(words >> 16);
        return {a * a + t * (b * b - a * a), b - a, a + b};
    }

    const DistanceGrid& grid_;
    const std::uint16_t* words_;
    Vec3<FloatPack> x_;
};

// A sphere against the points of those cells of a cloud that it touches.
class CellSearch {
  public:
    CellSearch(const Surface& surface, const Vec3<float>& c, float r)
        : points_(surface.cells()), grid_(surface.grid()), sphere_{c, r * r} {
        const float centre[3] = {c.x, c.y, c.z};
        for (int i = 0; i < 3; ++i) {
            first_[i] = cell(centre[i] - r - surface.rounding(), i);
            last_[i] = cell(centre[i] + r + surface.rounding(), i);
        }
    }

    bool touches() const {
        for (int chunk = first_[0] / 64; chunk <= last_[0] / 64; ++chunk) {
            const int from = first_[0] - 64 * chunk, to = last_[0] - 64 * chunk;
            const std::uint64_t window =
                (~std::uint64_t{0} << (from > 0 ? from : 0)) & (~std::uint64_t{0} >> (to < 63 ? 63 - to : 0));
            for (int k = first_[2]; k <= last_[2]; ++k) {
                const std::uint64_t* rows = points_.occupied(chunk, k);
                const float left = sphere_.square - gap_square(sphere_.c.z, k);
                for (int j = first_[1]; j <= last_[1]; ++j)
                    if (const std::uint64_t cells = rows[j] & window)
                        if (gap_square(sphere_.c.y, j) <= left && touches_row(chunk, j, k, cells)) return true;
            }
        }
        return false;
    }

  private:
    int cell(float x, int axis) const {
        const float at = x * grid_.inverse, last = static_cast<float>(grid_.n[axis] - 1);
        return at < 0 ? 0 : static_cast<int>(at < last ? at : last);
    }
    // Square of the distance of a coordinate from a row or a plane of cells, which rounding makes a little wider.
    float gap_square(float x, int index) const {
        const float at = x * grid_.inverse - static_cast<float>(index), beyond = at < 0 ? -at : at - 1;
        const float gap = (beyond - 1e-3f) * grid_.cell;
        return gap > 0 ? gap * gap : 0;
    }
    bool touches_row(int chunk, int j, int k, std::uint64_t cells) const {
        const std::size_t row = grid_.place(64 * chunk, j, k);
        return sphere_.touches(points_, points_.start(row + static_cast<std::size_t>(__builtin_ctzll(cells))),
                               points_.start(row + static_cast<std::size_t>(64 - __builtin_clzll(cells))));
    }

    const CellPoints& points_;
    const DistanceGrid& grid_;
    SurfaceSphere sphere_;
    int first_[3], last_[3];  // cells
};

// Lanes in which a sphere touches a surface, and those in which only its elements can decide.
struct SurfaceContact {
    unsigned certain, possible;
};

struct SurfaceShape {
    const SurfaceObstacle& o;

    // Lanes in which a sphere may touch the surface.
    FloatMask touches(const LaneSphere& s) const {
        const Vec3<FloatPack> p = local(s.c), in = in_box(p);
        const FloatPack gap =
            o.surface->is_cloud() ? positive_part(CloudCells(*o.surface, in).bounds().lower) : bound(in);
        return apart_from_box(p, in) + gap * gap <= square(s.r + o.radius);
    }

    // Of lanes in which a sphere may touch the surface, by better bounds.
    SurfaceContact contact(const LaneSphere& s, unsigned lanes) const {
        if (!o.surface->is_cloud()) return {0, lanes};
        const Vec3<FloatPack> p = local(s.c), in = in_box(p);
        const DistanceBounds bounds = CloudCells(*o.surface, in).refined_bounds();
        const FloatPack outside = apart_from_box(p, in), r = s.r + o.radius;
        const unsigned certain = lanes & bits(root(outside) + bounds.upper <= r);
        return {certain, lanes & ~certain & bits(outside + square(positive_part(bounds.lower)) <= square(r))};
    }

    // The lanes of `lanes` in which a sphere touches the surface; with `any`, at least one of them if there are any.
    unsigned touched(const LaneSphere& s, unsigned lanes, bool any) const {
        const Vec3<FloatPack> p = local(s.c);
        unsigned hit = 0;
        for (; lanes != 0 && !(any && hit != 0); lanes &= lanes - 1) {
            const int lane = __builtin_ctz(lanes);
            const Vec3<float> centre = {p.x[lane], p.y[lane], p.z[lane]};
            if (touches_surface(centre, s.r[lane] + o.radius) || inside(centre)) hit |= 1u << lane;
        }
        return hit;
    }

  private:
    Vec3<FloatPack> local(const Vec3<FloatPack>& c) const { return mat(o.bounds.R) * (c - vec(o.corner)); }
    Vec3<FloatPack> in_box(const Vec3<FloatPack>& p) const {
        const float* extent = o.surface->extent();
        return {clamp(p.x, 0.0f, extent[0]), clamp(p.y, 0.0f, extent[1]), clamp(p.z, 0.0f, extent[2])};
    }
    // Square of the distance of a point from its projection onto the box, which is at an angle of at least 90 degrees
    // to the line from there to any point of the surface.
    static FloatPack apart_from_box(const Vec3<FloatPack>& p, const Vec3<FloatPack>& in) {
        const Vec3<FloatPack> outside = p - in;
        return dot(outside, outside);
    }

    // Lower bound of the distance from points in the box to occupied cells; 0 inside a solid.
    FloatPack bound(const Vec3<FloatPack>& in) const {
        const DistanceGrid& grid = o.surface->grid();
        FloatMask gap = bytes_at(grid.gaps(), GridCell(grid, grid.inverse * in).place(grid));
        gap = gap == DistanceGrid::solid ? FloatMask{} : gap;
        return FloatPack(__builtin_convertvector(gap, FloatPack::Vector)) * (grid.cell / DistanceGrid::steps);
    }

    // Whether the grid shows that nothing is within a distance, given squared.
    bool clears(const Vec3<float>& c, float square) const {
        const float* extent = o.surface->extent();
        const auto within = [](float x, float high) { return x < 0 ? 0 : x > high ? high : x; };
        const float in[3] = {within(c.x, extent[0]), within(c.y, extent[1]), within(c.z, extent[2])};
        const float gap = o.surface->grid().clearance(in);
        return (c.x - in[0]) * (c.x - in[0]) + (c.y - in[1]) * (c.y - in[1]) + (c.z - in[2]) * (c.z - in[2]) +
                   gap * gap >
               square;
    }

    bool touches_surface(const Vec3<float>& c, float r) const {
        const Surface& surface = *o.surface;
        if (surface.is_cloud() && surface.cells().few_per_cell()) return CellSearch(surface, c, r).touches();
        if (surface.is_cloud()) return in_tree(surface.points(), {c, r * r});
        return !clears(c, r * r) && in_tree(surface.triangles(), {c, r * r});
    }

    // Whether a sphere touches an element of the tree.
    template <class Block>
    bool in_tree(const std::vector<Block>& elements, const SurfaceSphere& sphere) const {
        const BoxTree& tree = o.surface->tree();
        struct Entry {
            int level, block;
        };
        Entry stack[8 * box_fanout];  // at most eight levels: 16^8 elements
        int n = 0;
        stack[n++] = {tree.top(), 0};
        while (n > 0) {
            const Entry at = stack[--n];
            unsigned touched = sphere.touched(tree.block(at.level, at.block));
            for (; touched != 0; touched &= touched - 1) {
                const int child = at.block * box_fanout + __builtin_ctz(touched);
                if (at.level > 0)
                    stack[n++] = {at.level - 1, child};
                else if (sphere.touches(elements[child]))
                    return true;
            }
        }
        return false;
    }

    bool inside(const Vec3<float>& c) const {
        const float p[3] = {c.x, c.y, c.z};
        return o.surface->contains(p);
    }
};

}  // namespace kinodyn::KINODYN_TARGET
