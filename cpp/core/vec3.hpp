// Vectors of three doubles, for geometry outside of the kernels.
#pragma once

#include <algorithm>
#include <cmath>

namespace kinodyn {

struct Vec3 {
    double x = 0, y = 0, z = 0;
    double& operator[](int k) { return k == 0 ? x : k == 1 ? y : z; }
    double operator[](int k) const { return k == 0 ? x : k == 1 ? y : z; }
};

inline Vec3 operator+(const Vec3& a, const Vec3& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline Vec3 operator-(const Vec3& a, const Vec3& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline Vec3 operator*(double s, const Vec3& a) { return {s * a.x, s * a.y, s * a.z}; }
inline double dot(const Vec3& a, const Vec3& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline double squared(const Vec3& a) { return dot(a, a); }
inline double norm(const Vec3& a) { return std::sqrt(squared(a)); }
inline Vec3 cross(const Vec3& a, const Vec3& b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
inline Vec3 min(const Vec3& a, const Vec3& b) { return {std::min(a.x, b.x), std::min(a.y, b.y), std::min(a.z, b.z)}; }
inline Vec3 max(const Vec3& a, const Vec3& b) { return {std::max(a.x, b.x), std::max(a.y, b.y), std::max(a.z, b.z)}; }

struct Ball {
    Vec3 centre;
    double radius = 0;
};

}  // namespace kinodyn
