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

// Bounds of the distance from points in the box of a cloud to the points of the cloud, by cells near them.
class CloudCells {
  public:
    CloudCells(const Surface& surface, const Vec3<FloatPack>& p)
        : grid_(surface.grid()), words_(surface.bounds().words()), x_(grid_.inverse * p) {}

    // By the cell of the point.
    DistanceBounds bounds() const { return scaled(bounds_from(x_)); }

    // By further cells too: in the direction in which distances grow, their lower bounds lose least, and in the
    // opposite one the upper bounds.
    DistanceBounds refined_bounds() const {
        const Vec3<FloatPack> uphill = gradient();
        DistanceBounds best = bounds_from(x_);
        for (const float far : {1.0f, 2.0f}) {
            best.lower = larger(best.lower, bounds_from(x_ + far * uphill).lower);
            best.upper = smaller(best.upper, bounds_from(x_ - far * uphill).upper);
        }
        return scaled(best);
    }

  private:
    DistanceBounds scaled(const DistanceBounds& b) const { return {grid_.cell * b.lower, grid_.cell * b.upper}; }

    // Bounds for the point by the cell at x, all in units of cells.
    DistanceBounds bounds_from(const Vec3<FloatPack>& x) const {
        const GridCell cell(grid_, x);
        const Vec3<FloatPack> d = x_ - cell.centre();
        const FloatPack apart = root(dot(d, d));
        const FloatMask word = words_at(words_, cell.place(grid_)), high = word >> 8;
        constexpr float unit = 1.0f / DistanceGrid::steps;
        const FloatPack upper = FloatPack(__builtin_convertvector(high, FloatPack::Vector)) * unit + apart;
        return {lower_at(word) * unit - apart, select(high == CloudBounds::unknown, __builtin_inff(), upper)};
    }

    static FloatPack lower_at(FloatMask word) {
        const FloatMask low = word & 255;
        return FloatPack(__builtin_convertvector(low, FloatPack::Vector));
    }

    // Unit vectors.
    Vec3<FloatPack> gradient() const {
        const auto along = [&](const Vec3<float>& step) {
            return lower_at(words_at(words_, GridCell(grid_, x_ + step).place(grid_))) -
                   lower_at(words_at(words_, GridCell(grid_, x_ - step).place(grid_)));
        };
        const Vec3<FloatPack> g = {along({1, 0, 0}), along({0, 1, 0}), along({0, 0, 1})};
        return (FloatPack(1.0f) / root(dot(g, g) + 1e-3f)) * g;
    }

    const DistanceGrid& grid_;
    const std::uint16_t* words_;
    Vec3<FloatPack> x_;  // in units of cells
};

struct SurfaceShape {
    const SurfaceObstacle& o;

    // Lanes in which a sphere may touch the surface.
    FloatMask touches(const LaneSphere& s) const {
        const Vec3<FloatPack> p = local(s.c), in = in_box(p);
        const FloatPack gap = is_cloud() ? positive_part(CloudCells(*o.surface, in).bounds().lower) : bound(in);
        return apart_from_box(p, in) + gap * gap <= square(s.r + o.radius);
    }

    // The lanes of `lanes` in which a sphere touches it; with `any`, at least one of them if there are any.
    unsigned confirmed(const LaneSphere& s, unsigned lanes, bool any) const {
        const Vec3<FloatPack> p = local(s.c);
        unsigned hit = 0;
        if (is_cloud()) {
            const Vec3<FloatPack> in = in_box(p);
            const DistanceBounds bounds = CloudCells(*o.surface, in).refined_bounds();
            const FloatPack outside = apart_from_box(p, in), r = s.r + o.radius;
            hit = lanes & bits(root(outside) + bounds.upper <= r);
            lanes &= ~hit & bits(outside + square(positive_part(bounds.lower)) <= square(r));
        }
        for (; lanes != 0 && !(any && hit != 0); lanes &= lanes - 1) {
            const int lane = __builtin_ctz(lanes);
            const Vec3<float> centre = {p.x[lane], p.y[lane], p.z[lane]};
            if (touches_surface(centre, s.r[lane] + o.radius) || inside(centre)) hit |= 1u << lane;
        }
        return hit;
    }

  private:
    bool is_cloud() const { return o.surface->bounds().any(); }
    Vec3<FloatPack> local(const Vec3<FloatPack>& c) const { return mat(o.bounds.R) * (c - vec(o.corner)); }
    Vec3<FloatPack> in_box(const Vec3<FloatPack>& p) const {
        const float* extent = o.surface->extent();
        return {clamp(p.x, 0.0f, extent[0]), clamp(p.y, 0.0f, extent[1]), clamp(p.z, 0.0f, extent[2])};
    }
    // Square of the distance of a point from its projection onto the box, which is at an angle of at least 90 degrees
    // to the way from there to points of the surface.
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
        const BoxTree& tree = surface.tree();
        const SurfaceSphere sphere{c, r * r};
        if (!is_cloud() && clears(c, r * r)) return false;
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
                else if (surface.points().empty() ? sphere.touches(surface.triangles()[child])
                                                  : sphere.touches(surface.points()[child]))
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
