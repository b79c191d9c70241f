// The left Jacobian J of SE(3), which relates the twist of a pose X = exp(e) to the rate of its logarithm e:
// dX/dt X^-1 = J(e) de/dt (T. D. Barfoot, "State Estimation for Robotics", 2017, section 7.1.5).
//
// With e = (lin, ang), S = [ang]x and f_n the sum over k of (-|ang|^2)^k / (2 k + n)!, the Jacobian of SO(3) is
// A = 1 + f2 S + f3 S^2; J has A on its diagonal and the derivative of A along `lin` as its upper block. Derivatives of
// f_n by |ang|^2 are (n f_(n+2) - f_(n+1)) / 2.
#pragma once

#include "kernels/manifold.hpp"

namespace kinodyn::KINODYN_TARGET {

class LeftJacobian {
  public:
    explicit LeftJacobian(const Spatial<double>& e) : e_(e) {
        const double t2 = dot(e.ang, e.ang), t = __builtin_sqrt(t2);
        if (t2 < 1) {
            f6_ = (1 - t2 / 56 * (1 - t2 / 90 * (1 - t2 / 132 * (1 - t2 / 182 * (1 - t2 / 240))))) / 720;
            f7_ = (1 - t2 / 72 * (1 - t2 / 110 * (1 - t2 / 156 * (1 - t2 / 210 * (1 - t2 / 272))))) / 5040;
            f4_ = 1.0 / 24 - t2 * f6_, f5_ = 1.0 / 120 - t2 * f7_;
        } else {
            f4_ = (0.5 - (1 - cos(t)) / t2) / t2, f5_ = (1.0 / 6 - (t - sin(t)) / (t2 * t)) / t2;
            f6_ = (1.0 / 24 - f4_) / t2, f7_ = (1.0 / 120 - f5_) / t2;
        }
        f2_ = 0.5 - t2 * f4_, f3_ = 1.0 / 6 - t2 * f5_;
        const Mat3<double> S = skew(e.ang), P = skew(e.lin), SS = S * S;
        inverse_ = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
        inverse_ += scaled(-0.5, S);
        inverse_ += scaled((f3_ - 2 * f4_) / (2 * f2_), SS);
        const double along = dot(e.lin, e.ang);
        coupling_ = scaled(f2_, P);
        coupling_ += scaled(f3_, S * P);
        coupling_ += scaled(f3_, P * S);
        coupling_ += scaled(2 * along * f2_rate(), S);
        coupling_ += scaled(2 * along * f3_rate(), SS);
    }

    // J^-1 times a twist.
    Spatial<double> inverse(const Spatial<double>& twist) const {
        const V ang = inverse_ * twist.ang;
        return {inverse_ * (twist.lin - coupling_ * ang), ang};
    }

    // (dJ/dt) de/dt for the rate de/dt of the logarithm.
    Spatial<double> rate_times(const Spatial<double>& rate) const {
        const V &a = rate.lin, &w = rate.ang;
        return {first(w, a) + first(a, w) + second(e_.lin, w), first(w, w)};
    }

  private:
    double f2_rate() const { return f4_ - 0.5 * f3_; }
    double f3_rate() const { return 1.5 * f5_ - 0.5 * f4_; }

    // Derivative of A along a, times x.
    V first(const V& a, const V& x) const {
        const V &s = e_.ang, sx = cross(s, x), ax = cross(a, x);
        const double along = 2 * dot(s, a);
        return f2_ * ax + f3_ * (cross(a, sx) + cross(s, ax)) + along * f2_rate() * sx +
               along * f3_rate() * cross(s, sx);
    }
    // Second derivative of A along a and b, times b.
    V second(const V& a, const V& b) const {
        const V &s = e_.ang, sb = cross(s, b), ab = cross(a, b);
        const double along_a = 2 * dot(s, a), along_b = 2 * dot(s, b), both = 2 * dot(a, b);
        const double f2_curvature = 0.25 * (f4_ - 5 * f5_ + 8 * f6_), f3_curvature = 0.25 * (f5_ - 7 * f6_ + 15 * f7_);
        return f3_ * cross(b, ab) + along_b * (f2_rate() * ab + f3_rate() * (cross(a, sb) + cross(s, ab))) +
               along_a * f3_rate() * cross(b, sb) + (both * f2_rate() + along_a * along_b * f2_curvature) * sb +
               (both * f3_rate() + along_a * along_b * f3_curvature) * cross(s, sb);
    }

    Spatial<double> e_;
    double f2_, f3_, f4_, f5_, f6_, f7_;
    Mat3<double> inverse_, coupling_;
};

}  // namespace kinodyn::KINODYN_TARGET
