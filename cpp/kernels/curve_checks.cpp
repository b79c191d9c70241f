// Continuous collision checks of polynomial motions, including moving obstacles.
//
// Settings: CurveQuery. Inputs, one row for each piece of a motion: configuration, coefficients (6, nv), duration,
// start time, resolution [m]. Output: 1 if free throughout, else 0.
#include "core/moving_sphere.hpp"
#include "kernels/interval_checks.hpp"

namespace kinodyn::KINODYN_TARGET {

namespace {

// A moving obstacle at the time of each lane.
struct LaneObstacle {
    LaneSphere s;
    FloatMask touches(const LaneSphere& other) const { return overlap(s, other); }
};

class CurveChecker {
  public:
    static long bytes(const CollisionQuery& query, long n_spheres) {
        const long n = static_cast<long>(query.moving_dofs.size());
        return aligned(SphereChecker::bytes(query)) + AlignedMemory::bytes<FloatPack>(query.robot().nq) +
               SphereWidths::bytes(query) + AlignedMemory::bytes<float>(n_spheres) +
               AlignedMemory::bytes<float>(curve_coefficients * n) + AlignedMemory::bytes<float>(n);
    }

    CurveChecker(const CurveQuery& given, char* memory)
        : given_(given),
          query_(*given.query),
          checker_(query_, memory),
          n_dofs_(static_cast<int>(query_.moving_dofs.size())),
          memory_{memory + aligned(SphereChecker::bytes(query_))},
          q_(memory_.take<FloatPack>(query_.robot().nq)),
          sphere_width_(memory_.take<float>(given.n_spheres)),
          coefficients_(memory_.take<float>(static_cast<long>(curve_coefficients) * n_dofs_)),
          speed_(memory_.take<float>(n_dofs_)),
          widths_(query_, memory_) {}

    // Is the piece free everywhere, until the spheres of an interval move less than `resolution` [m]?
    bool free_throughout(const double* q, const double* coefficients, double duration, double start, float resolution) {
        load(q, coefficients, duration);
        const auto time = [&](FloatPack s) { return s * static_cast<float>(duration) + static_cast<float>(start); };
        return intervals_.free_throughout(
            float_lanes, bound_widths(duration, start), resolution,
            [&](FloatPack s, FloatPack half, unsigned alive) { return collisions(s, time(s), alive, half); },
            [&](FloatPack s, unsigned alive) { return collisions(s, time(s), alive, 0.0f); });
    }

  private:
    static constexpr double rounding = 1e-5;  // [m] of float32 positions of obstacles, up to 10 m away

    // Coefficients of powers of the time from 0 to 1, and a bound of each speed: a polynomial is within the hull of its
    // Bernstein coefficients.
    void load(const double* q, const double* coefficients, double duration) {
        for (int i = 0; i < query_.robot().nq; ++i) q_[i] = query_.reduced(i, q[i]);
        for (int k = 0; k < n_dofs_; ++k) {
            const auto [iq, iv] = query_.moving_dofs[k];
            float* own = coefficients_ + curve_coefficients * k;
            double derivative[curve_coefficients - 1], power = 1;
            for (int m = 0; m < curve_coefficients; ++m, power *= duration) {
                const double c = power * coefficients[m * query_.robot().nv + iv];
                own[m] = m == 0 ? query_.reduced(iq, q[iq] + c) : static_cast<float>(c);
                if (m > 0) derivative[m - 1] = m * c;
            }
            speed_[k] = static_cast<float>(largest_bernstein(derivative)) * (1.0f + 1e-6f);
        }
    }

    static double largest_bernstein(const double* c) {
        constexpr int degree = curve_coefficients - 2;
        constexpr double binomial[5][5] = {
            {1, 0, 0, 0, 0}, {1, 1, 0, 0, 0}, {1, 2, 1, 0, 0}, {1, 3, 3, 1, 0}, {1, 4, 6, 4, 1}};
        static_assert(degree == 4);
        double result = 0;
        for (int i = 0; i <= degree; ++i) {
            double sum = 0;
            for (int j = 0; j <= i; ++j) sum += binomial[i][j] / binomial[degree][j] * c[j];
            if (fabs(sum) > result) result = fabs(sum);
        }
        return result;
    }

    // Upper bounds of the total motion of units, pairs and obstacles. Returns the largest.
    float bound_widths(double duration, double start) {
        const auto bound = [&](const float* sweep) {
            float sum = 0;
            for (int k = 0; k < n_dofs_; ++k) sum += speed_[k] * sweep[query_.moving_dofs[k].iv];
            return sum;
        };
        float fastest = 0;
        for (long i = 0; i < given_.n_spheres; ++i) {
            sphere_width_[i] = static_cast<float>(duration * fastest_speed(given_.spheres[i], start, start + duration));
            if (sphere_width_[i] > fastest) fastest = sphere_width_[i];
        }
        return widths_.set(query_, bound) + fastest;
    }

    // Over an interval of time: at one of its ends, since the velocity is linear.
    static double fastest_speed(const MovingSphere& s, double begin, double end) {
        double largest = 0;
        for (const double t : {begin, end}) {
            double sum = 0;
            for (int i = 0; i < 3; ++i) sum += (s.v[i] + t * s.a[i]) * (s.v[i] + t * s.a[i]);
            if (sum > largest) largest = sum;
        }
        return sqrt(largest);
    }

    // Lanes of `alive` that collide at the times s of the piece, t of the obstacles.
    unsigned collisions(FloatPack s, FloatPack t, unsigned alive, FloatPack half) {
        for (int k = 0; k < n_dofs_; ++k) {
            const float* c = coefficients_ + curve_coefficients * k;
            FloatPack q = c[curve_coefficients - 1];
            for (int m = curve_coefficients - 2; m >= 0; --m) q = q * s + c[m];
            q_[query_.moving_dofs[k].iq] = q;
        }
        unsigned hit = checker_.collisions(q_, alive, false, {widths_.units, widths_.pairs, half});
        for (long i = 0; i < given_.n_spheres && (alive & ~hit); ++i) {
            const MovingSphere& o = given_.spheres[i];
            LaneObstacle at;
            const auto place = [&](int k) {
                const float p = static_cast<float>(o.p[k]), v = static_cast<float>(o.v[k]),
                            a = static_cast<float>(0.5 * o.a[k]);
                return (t * a + v) * t + p;
            };
            at.s = {{place(0), place(1), place(2)}, half * sphere_width_[i] + static_cast<float>(o.radius + rounding)};
            hit |= checker_.collisions_with(at, alive & ~hit);
        }
        return hit;
    }

    const CurveQuery& given_;
    const CollisionQuery& query_;
    SphereChecker checker_;
    int n_dofs_;
    AlignedMemory memory_;  // for the arrays below
    FloatPack* q_;
    float *sphere_width_, *coefficients_, *speed_;
    SphereWidths widths_;
    IntervalChecker intervals_;
};

void curve_free(const Call& call, long begin, long end, Fault& fault) {
    const CurveQuery& given = call.as<CurveQuery>();
    CurveChecker checker(given,
                         thread_scratch(static_cast<std::size_t>(CurveChecker::bytes(*given.query, given.n_spheres))));
    for (long state = begin; state < end; ++state) {
        if (find_fault(call, state, fault)) return;
        const double* row[5];
        for (int k = 0; k < 5; ++k) row[k] = call.in[k].row(state);
        const bool free = checker.free_throughout(row[0], row[1], *row[2], *row[3], static_cast<float>(*row[4]));
        *call.out[0].row(state) = free ? 1.0 : 0.0;
    }
}

}  // namespace

constexpr KernelEntry entries[] = {{"curve_free", curve_free}};
extern const KernelList curve_checks_kernels;
const KernelList curve_checks_kernels = entries;

}  // namespace kinodyn::KINODYN_TARGET
