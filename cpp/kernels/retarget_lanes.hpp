// Frames of a clip in the lanes of packs; see retarget.cpp. Clips are in double, packs in double or float32.
#pragma once

#include "core/retarget.hpp"
#include "kernels/algebra.hpp"
#include "kernels/float_pack.hpp"

namespace kinodyn::KINODYN_TARGET {

inline const Model& model_for(const RetargetProblem& problem, double) { return *problem.model; }
inline const ModelOf<float>& model_for(const RetargetProblem& problem, float) { return *problem.rounded_model; }

template <class T, class Real>
inline T load(const Real* from) {
    T x;
    for (int i = 0; i < Lanes<T>::count; ++i) x.v[i] = static_cast<RealOf<T>>(from[i]);
    return x;
}
// The difference of two rows, rounded once; `from` may be null: zero.
template <class T>
inline T load_difference(const double* of, const double* from) {
    if (!from) return load<T>(of);
    T x;
    for (int i = 0; i < Lanes<T>::count; ++i) x.v[i] = static_cast<RealOf<T>>(of[i] - from[i]);
    return x;
}
template <class T>
inline void save(double* to, const T& x) {
    for (int i = 0; i < Lanes<T>::count; ++i) to[i] = static_cast<double>(x.v[i]);
}
// The sum of a row, which may be null, and a pack.
template <class T>
inline void save_sum(double* to, const double* row, const T& x) {
    for (int i = 0; i < Lanes<T>::count; ++i) to[i] = (row ? row[i] : 0.0) + static_cast<double>(x.v[i]);
}

// Frames of a clip, a pack of them at a time. Positions are measured from the base, whose own position stays in double:
// in float32, too, they do not lose digits far from the origin of the world.
template <class T>
class ClipLanes {
  public:
    explicit ClipLanes(const RetargetProblem& problem) : p_(problem) {
        const Body& first = problem.model->bodies[0];
        if (first.kind == Kind::Free) base_ = first.iq;
    }
    bool floats() const { return base_ >= 0; }

    // Configurations (nq) at frames from t on; the position of the base becomes zero.
    void load_positions(long t, T* q) {
        t_ = t;
        for (int k = 0; k < p_.model->nq; ++k) q[k] = load<T>(row(p_.q, k));
        if (!floats()) return;
        for (int k = base_; k < base_ + 3; ++k) q[k] = 0.0;
        height_ = load<T>(base(2));
    }
    void save_positions(const T* q) {
        for (int k = 0; k < p_.model->nq; ++k) {
            double* const to = p_.q + k * p_.padded + t_;
            if (floats() && k >= base_ && k < base_ + 3)
                save_sum(to, to, q[k]);
            else
                save(to, q[k]);
        }
    }
    // Height of the base at these frames, as it was loaded [m].
    const T& height() const { return height_; }
    // Coordinate k of a place, which two or three rows of the clip contain.
    T load_place(const double* rows, int k) const { return load_difference<T>(row(rows, k), base(k)); }
    void save_place(double* rows, const Vec3<T>& x) const {
        save_sum(rows + t_, base(0), x.x);
        save_sum(rows + p_.padded + t_, base(1), x.y);
        save_sum(rows + 2 * p_.padded + t_, base(2), x.z);
    }

  private:
    const double* row(const double* rows, int k) const { return rows + k * p_.padded + t_; }
    const double* base(int k) const { return floats() ? row(p_.q, base_ + k) : nullptr; }

    const RetargetProblem& p_;
    int base_ = -1;  // where the position of the base is in q, -1 if it is fixed
    long t_ = 0;
    T height_ = 0.0;
};

}  // namespace kinodyn::KINODYN_TARGET
