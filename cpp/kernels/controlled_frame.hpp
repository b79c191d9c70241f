// A frame that a controller moves along some of the directions x y z rx ry rz: its errors, and rows of its Jacobian.
#pragma once

#include "kernels/manifold.hpp"
#include "kernels/motion.hpp"
#include "solver/cholesky.hpp"

namespace kinodyn::KINODYN_TARGET {

struct ControlledFrame {
    long k = 0;  // number of controlled directions
    int rows[6];
    double error[6], error_rate[6], drift[6];  // of the controlled directions

    // Bit i of `directions`: direction i is controlled.
    explicit ControlledFrame(int directions) {
        for (int row = 0; row < 6; ++row)
            if (directions >> row & 1) rows[k++] = row;
    }

    // Measures the one frame of the call against a target pose (4, 4) with a twist; writes J (k, nv).
    void measure(Work<double>& w, const double* q, const double* v, const double* target, const double* twist,
                 double* J) {
        auto* motions = w.take_as<Motion<double>>(w.call.bodies.size);
        const Motion<double> m = propagate<double>(w, q, v, nullptr, motions);
        const Placement<double> f = frame_on(w, m);
        const V r = f.p - m.at.p;
        const Spatial<double> rate = velocity_at(m, r), a = acceleration_at(m, r);
        const V offset = V{target[3], target[7], target[11]} - f.p;
        const V angle = k > 0 && rows[k - 1] >= 3 ? rotation_error(f.R, target) : V{0, 0, 0};
        const double errors[6] = {offset.x, offset.y, offset.z, angle.x, angle.y, angle.z};
        const double rates[6] = {rate.lin.x, rate.lin.y, rate.lin.z, rate.ang.x, rate.ang.y, rate.ang.z};
        const double drifts[6] = {a.lin.x, a.lin.y, a.lin.z, a.ang.x, a.ang.y, a.ang.z};
        for (long i = 0; i < k; ++i) {
            error[i] = errors[rows[i]];
            error_rate[i] = twist[rows[i]] - rates[rows[i]];
            drift[i] = drifts[rows[i]];
        }
        place_columns(w, motions, f.p, J);
    }

  private:
    // Rotation vector from R to the rotation of the target, in world axes.
    static V rotation_error(const Mat3<double>& R, const double* target) {
        const Mat3<double> desired = {vec(target), vec(target + 4), vec(target + 8)};
        return logarithm(quaternion_of(desired * Mat3<double>{R.column(0), R.column(1), R.column(2)}));
    }

    void place_columns(const Work<double>& w, const Motion<double>* motions, const V& point, double* J) const {
        const long nv = w.model.nv;
        for (long i = 0; i < k * nv; ++i) J[i] = 0;
        for (int i = 0; i < w.call.bodies.size; ++i) {
            const Body& body = w.model.bodies[w.call.bodies[i]];
            const auto put = [&](int dof, const Spatial<double>& s) {
                const double column[6] = {s.lin.x, s.lin.y, s.lin.z, s.ang.x, s.ang.y, s.ang.z};
                for (long r = 0; r < k; ++r) J[r * nv + body.iv + dof] += column[rows[r]];
            };
            for_columns<double>(body, motions[i].at.R, motions[i].at.p - point, put);
        }
    }
};

// The factor L (n, n) of the inertia of the joints with motors, the last n degrees of freedom.
template <class Entry>
void factor_joint_inertia(Work<double>& w, double* L, long n, Entry&& entry) {
    const long base = w.model.nv - n;
    cholesky(L, n, n, entry, [&](long i, double d) {
        w.check_pivot(d, static_cast<int>(base + i));
        return d;
    });
}

// The factor C of the product of the k rows of Y (k, n) with each other; false if it is not positive definite.
inline bool factor_products(double (&C)[6][6], const double* Y, long k, long n) {
    bool definite = true;
    const auto product = [&](long i, long j) {
        double total = 0;
        for (long c = 0; c < n; ++c) total += Y[i * n + c] * Y[j * n + c];
        return total;
    };
    cholesky(C[0], k, 6, product, [&](long, double d) {
        definite = definite && d > 0;
        return definite ? d : 1;
    });
    return definite;
}

}  // namespace kinodyn::KINODYN_TARGET
