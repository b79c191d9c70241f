// What holds a robot: places that touch the world and loops, with the forces that they can take.
#pragma once

#include "tasks/accelerations.hpp"

namespace kinodyn::KINODYN_TARGET {

struct Support {
    int frame, other;  // other -1: the world
    int mask;          // bit k: direction k of x y z rx ry rz is kept
    int cone;          // rows of its cone
    int place;         // where its numbers begin
    int active, touches;
    static constexpr int integers = 7;
    static Support read(const int* n) { return {n[0], n[1], n[2], n[3], n[4], n[5], n[6]}; }
    int rows() const { return __builtin_popcount(static_cast<unsigned>(mask)); }
    int constraints() const { return touches ? cone + 1 : 0; }
};

// Its numbers. Forces act on `frame` at its place, in axes of their own: of a contact, z is the normal of the ground
// and x as near to the place's x as can be; of a loop, those of the place in `other`.
struct SupportNumbers {
    const double* x;
    const double* place() const { return x; }        // in the frame: p 3, R 9
    const double* target() const { return x + 12; }  // in the other: p 3, R 9
    double stiffness() const { return x[24]; }       // [1/s^2]
    double damping() const { return x[25]; }         // [1/s]
    const double* normal() const { return x + 26; }  // in the world
    double minimum() const { return x[29]; }         // of the normal force [N]
    double maximum() const { return x[30]; }
    double weight() const { return x[31]; }          // of its force in the last level
    double length() const { return x[32]; }          // [m] that makes moments comparable with forces
    const double* wished() const { return x + 33; }  // wrench in world axes, about the point that follows
    const double* point() const { return x + 39; }   // in the frame
    const double* cone() const { return x + 42; }    // rows over the kept directions: at most 0 times a force
};

// One support where it is.
class SupportAt {
  public:
    SupportAt(const Support& support, const SupportNumbers& numbers, const AccelerationRows& motion)
        : s_(support), x_(numbers), motion_(motion), A_(at(support.frame, numbers.place())) {
        B_ = at(support.other, numbers.target());
        axes_ = support.touches ? ground_axes(vec(numbers.normal())) : columns_of(B_.R);
        const V p = motion.frames().place(support.frame, numbers.point()).p;
        arm_ = A_.p - p;
    }

    // Writes its rows from row `first` of J on, and the accelerations that they need.
    void write(const Matrix& J, double* wanted, long first) const {
        Spatial<double> rate, drift;
        motion_.relative_motion(s_.frame, s_.other, A_.p, rate, drift);
        const V way = A_.p - B_.p;
        const Mat3<double> back = {B_.R.column(0), B_.R.column(1), B_.R.column(2)};
        const V turn = B_.R * logarithm(quaternion_of(back * A_.R));
        double* rows[6];
        long row = first;
        for (int k = 0; k < 6; ++k) {
            rows[k] = nullptr;
            if (!(s_.mask >> k & 1)) continue;
            const V& u = axes_[k % 3];
            const double error = dot(u, k < 3 ? way : turn), speed = dot(u, k < 3 ? rate.lin : rate.ang);
            wanted[row] = -dot(u, k < 3 ? drift.lin : drift.ang) - x_.stiffness() * error - x_.damping() * speed;
            rows[k] = J[row++];
            clear_row(rows[k], J.stride);
        }
        const auto put = [&](double sign) {
            return [&, sign](int iv, const Spatial<double>& s) {
                for (int k = 0; k < 6; ++k)
                    if (rows[k]) rows[k][iv] += sign * dot(axes_[k % 3], k < 3 ? s.lin : s.ang);
            };
        };
        motion_.frames().for_columns(s_.frame, s_.other, A_.p, put(1));
        motion_.frames().for_columns(s_.other, s_.frame, A_.p, put(-1));
    }

    // The wrench that is wished for, as forces along the kept directions.
    void wished(double* force) const {
        const V f = vec(x_.wished()), m = vec(x_.wished() + 3) - cross(arm_, f);
        for (int k = 0, i = 0; k < 6; ++k)
            if (s_.mask >> k & 1) force[i++] = s_.touches ? dot(axes_[k % 3], k < 3 ? f : m) : 0;
    }

    // Forces along the kept directions as users see them: of a contact, in world axes and about its point.
    void tell(const double* force, double* out) const {
        const int n = s_.rows();
        if (!s_.touches) {
            for (int i = 0; i < n; ++i) out[i] = force[i];
            return;
        }
        V f = {0, 0, 0}, m = {0, 0, 0};
        for (int k = 0, i = 0; k < 6; ++k)
            if (s_.mask >> k & 1) (k < 3 ? f : m) += force[i++] * axes_[k % 3];
        m += cross(arm_, f);
        const double all[6] = {f.x, f.y, f.z, m.x, m.y, m.z};
        for (int i = 0; i < n; ++i) out[i] = all[i];
    }

  private:
    Placement<double> at(int frame, const double* place) const {
        const Placement<double> f = motion_.frames().place(frame, place);
        Placement<double> result = {f.R * mat(place + 3), f.p};
        if (frame < 0) result.p += vec(place);
        return result;
    }
    struct Axes {
        V u[3];
        const V& operator[](int k) const { return u[k]; }
    };
    static Axes columns_of(const Mat3<double>& R) { return {{R.column(0), R.column(1), R.column(2)}}; }
    Axes ground_axes(const V& z) const {
        V x = A_.R.column(0);
        if (fabs(dot(x, z)) > 0.9) x = A_.R.column(1);
        x -= dot(x, z) * z;
        x = (1 / __builtin_sqrt(dot(x, x))) * x;
        return {{x, cross(z, x), z}};
    }

    const Support& s_;
    const SupportNumbers x_;
    const AccelerationRows& motion_;
    Placement<double> A_, B_;
    V arm_;  // from the point to the place, where forces act
    Axes axes_;
};

}  // namespace kinodyn::KINODYN_TARGET
