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

struct SurfaceShape {
    const SurfaceObstacle& o;

    // Lanes in which a sphere may touch the surface.
    FloatMask touches(const LaneSphere& s) const {
        const Vec3<FloatPack> p = local(s.c), in = in_grid(p);
        const Vec3<FloatPack> outside = p - in;  // at an angle of at least 90 degrees to points of the box
        const FloatPack gap = is_cloud() ? positive_part(cloud_bounds(in).lower) : bound(in);
        return dot(outside, outside) + gap * gap <= square(s.r + o.radius);
    }

    // The lanes of `lanes` in which a sphere touches it; with `any`, at least one of them if there are any.
    unsigned confirmed(const LaneSphere& s, unsigned lanes, bool any) const {
        const Vec3<FloatPack> p = local(s.c);
        unsigned hit = is_cloud() ? lanes & touching_cloud(p, s.r) : 0;
        lanes &= ~hit;
        for (; lanes != 0 && !(any && hit != 0); lanes &= lanes - 1) {
            const int lane = __builtin_ctz(lanes);
            const Vec3<float> centre = {p.x[lane], p.y[lane], p.z[lane]};
            if (touches_surface(centre, s.r[lane] + o.radius) || inside(centre)) hit |= 1u << lane;
        }
        return hit;
    }

  private:
    struct Bounds {
        FloatPack lower, upper;
    };

    bool is_cloud() const { return o.surface->bounds().any(); }
    Vec3<FloatPack> local(const Vec3<FloatPack>& c) const { return mat(o.bounds.R) * (c - vec(o.corner)); }
    Vec3<FloatPack> in_grid(const Vec3<FloatPack>& p) const {
        const float* extent = o.surface->extent();
        return {clamp(p.x, 0.0f, extent[0]), clamp(p.y, 0.0f, extent[1]), clamp(p.z, 0.0f, extent[2])};
    }

    // Cell of a coordinate in the grid.
    static FloatMask index(const DistanceGrid& grid, FloatPack x, int axis) {
        const FloatMask i = truncated(x * grid.inverse);
        return i < grid.n[axis] ? i : FloatMask{} + (grid.n[axis] - 1);
    }

    // Lower bound of the distance from points in the box to occupied cells; 0 inside a solid.
    FloatPack bound(const Vec3<FloatPack>& in) const {
        const DistanceGrid& grid = o.surface->grid();
        const FloatMask place =
            (index(grid, in.z, 2) * grid.n[1] + index(grid, in.y, 1)) * grid.n[0] + index(grid, in.x, 0);
        FloatMask gap = bytes_at(grid.gaps(), place);
        gap = gap == DistanceGrid::solid ? FloatMask{} : gap;
        return FloatPack(__builtin_convertvector(gap, FloatPack::Vector)) * (grid.cell / DistanceGrid::steps);
    }

    // Bounds of the distance from points in the box to those of a cloud.
    Bounds cloud_bounds(const Vec3<FloatPack>& in) const {
        const DistanceGrid& grid = o.surface->grid();
        const FloatMask i = index(grid, in.x, 0), j = index(grid, in.y, 1), k = index(grid, in.z, 2);
        const auto from_centre = [&](FloatPack x, FloatMask at) {
            return x * grid.inverse - FloatPack(__builtin_convertvector(at, FloatPack::Vector)) - 0.5f;
        };
        const Vec3<FloatPack> d = {from_centre(in.x, i), from_centre(in.y, j), from_centre(in.z, k)};
        const FloatPack offset = root(dot(d, d)) * grid.cell;
        const FloatMask word = words_at(o.surface->bounds().words(), (k * grid.n[1] + j) * grid.n[0] + i);
        const float unit = grid.cell / DistanceGrid::steps;
        const FloatMask low = word & 255, high = word >> 8;
        const FloatPack upper = FloatPack(__builtin_convertvector(high, FloatPack::Vector)) * unit + offset;
        return {FloatPack(__builtin_convertvector(low, FloatPack::Vector)) * unit - offset,
                select(high == CloudBounds::unknown, __builtin_inff(), upper)};
    }

    // Lanes in which a sphere about p touches the cloud by the bounds of its cell.
    unsigned touching_cloud(const Vec3<FloatPack>& p, FloatPack r) const {
        const Vec3<FloatPack> in = in_grid(p), outside = p - in;
        return bits(root(dot(outside, outside)) + cloud_bounds(in).upper <= r + o.radius);
    }

    bool touches_surface(const Vec3<float>& c, float r) const {
        const float* extent = o.surface->extent();
        const auto within = [](float x, float high) { return x < 0 ? 0 : x > high ? high : x; };
        const float in[3] = {within(c.x, extent[0]), within(c.y, extent[1]), within(c.z, extent[2])};
        const float outside =
            (c.x - in[0]) * (c.x - in[0]) + (c.y - in[1]) * (c.y - in[1]) + (c.z - in[2]) * (c.z - in[2]);
        const DistanceGrid& grid = o.surface->grid();
        if (is_cloud()) {
            const CloudBounds::Verdict verdict = o.surface->bounds().decide(grid, in, __builtin_sqrtf(outside), r);
            if (verdict != CloudBounds::Verdict::undecided) return verdict == CloudBounds::Verdict::touching;
        } else {
            const float gap = grid.clearance(in);
            if (outside + gap * gap > r * r) return false;
        }
        return touches_elements({c, r * r});
    }

    // Whether a sphere touches a point or a triangle, by the box tree.
    bool touches_elements(const SurfaceSphere& sphere) const {
        const Surface& surface = *o.surface;
        const BoxTree& tree = surface.tree();
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
