// Continuous collision checks of polynomial motions, including moving obstacles.
//
// Settings: CurveQuery. Inputs, one row for each piece of a motion: configuration, coefficients (6, nv), duration,
// start time, resolution [m]. Output: 1 if free throughout, else 0.
#include "core/moving_sphere.hpp"
#include "kernels/sphere_checks.hpp"

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
        const long floats = static_cast<long>(query.spheres().units.size() + query.unit_pairs.size()) + n_spheres +
                            (curve_coefficients + 1L) * static_cast<long>(query.moving_dofs.size());
        return SphereChecker::bytes(query) + static_cast<long>(sizeof(FloatPack)) * query.robot().nq +
               static_cast<long>(sizeof(float)) * floats + 6 * 64;
    }

    CurveChecker(const CurveQuery& given, char* memory)
        : given_(given),
          query_(*given.query),
          checker_(query_, memory),
          n_dofs_(static_cast<int>(query_.moving_dofs.size())) {
        const auto take = [&](long size) { return memory += (size + 63) / 64 * 64, memory - (size + 63) / 64 * 64; };
        const auto floats = [&](long n) {
            return reinterpret_cast<float*>(take(static_cast<long>(sizeof(float)) * n));
        };
        take(SphereChecker::bytes(query_));
        q_ = reinterpret_cast<FloatPack*>(take(static_cast<long>(sizeof(FloatPack)) * query_.robot().nq));
        unit_width_ = floats(static_cast<long>(query_.spheres().units.size()));
        pair_width_ = floats(static_cast<long>(query_.unit_pairs.size()));
        sphere_width_ = floats(given.n_spheres);
        coefficients_ = floats(static_cast<long>(curve_coefficients) * n_dofs_);
        speed_ = floats(n_dofs_);
    }

    // Is the piece free everywhere? As for straight motions, an interval is free if the spheres, inflated by how far
    // they can move within it, are free at its centre; otherwise it is divided. Time runs from 0 to 1.
    bool free_throughout(const double* q, const double* coefficients, double duration, double start, float resolution) {
        load(q, coefficients, duration);
        const float widest = bound_widths(duration, start);
        stack_size_ = 0;
        push_parts(0.5f, 0.5f, float_lanes);
        while (stack_size_ > 0) {
            FloatPack s = 0.0f, half = 0.0f;
            const int n = stack_size_ < float_lanes ? stack_size_ : float_lanes;
            for (int i = 0; i < n; ++i) s.v[i] = stack_[--stack_size_].centre, half.v[i] = stack_[stack_size_].half;
            const unsigned used = n == float_lanes ? all_lanes : (1u << n) - 1;
            const FloatPack t = s * static_cast<float>(duration) + static_cast<float>(start);
            const unsigned undecided = collisions(s, t, used, half);
            if (undecided == 0) continue;
            if (collisions(s, t, undecided, 0.0f)) return false;
            for (int i = 0; i < n; ++i) {
                if (!(undecided >> i & 1)) continue;
                if (half[i] * widest < resolution || stack_size_ + 2 > max_intervals) return false;
                push_parts(s[i], half[i], 2);
            }
        }
        return true;
    }

  private:
    struct Interval {
        float centre, half;
    };
    static constexpr int max_intervals = 1024;
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
        float widest = 0, fastest = 0;
        for (int u : query_.checked_units) {
            unit_width_[u] = bound(query_.unit_sweep(u));
            if (unit_width_[u] > widest) widest = unit_width_[u];
        }
        for (int k = 0; k < static_cast<int>(query_.unit_pairs.size()); ++k) {
            pair_width_[k] = bound(query_.unit_pair_sweep(k));
            if (pair_width_[k] > widest) widest = pair_width_[k];
        }
        for (long i = 0; i < given_.n_spheres; ++i) {
            sphere_width_[i] = static_cast<float>(duration * fastest_speed(given_.spheres[i], start, start + duration));
            if (sphere_width_[i] > fastest) fastest = sphere_width_[i];
        }
        return widest + fastest;
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
        unsigned hit = checker_.collisions(q_, alive, false, {unit_width_, pair_width_, half});
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

    void push_parts(float centre, float half, int n) {
        const float part = half / static_cast<float>(n);
        for (int i = 0; i < n; ++i)
            stack_[stack_size_++] = {centre - half + part * static_cast<float>(2 * i + 1), part};
    }

    const CurveQuery& given_;
    const CollisionQuery& query_;
    SphereChecker checker_;
    int n_dofs_;
    FloatPack* q_;
    float *unit_width_, *pair_width_, *sphere_width_, *coefficients_, *speed_;
    Interval stack_[max_intervals];
    int stack_size_ = 0;
};

void curve_free(const Call& call, long begin, long end, Fault& fault) {
    const CurveQuery& given = call.as<CurveQuery>();
    CurveChecker checker(given,
                         thread_scratch(static_cast<std::size_t>(CurveChecker::bytes(*given.query, given.n_spheres))));
    for (long state = begin; state < end; ++state) {
        if (find_fault(call, state, fault)) return;
        const double* row[5];
        for (int k = 0; k < 5; ++k) row[k] = call.in[k].data + state * call.in[k].stride;
        const bool free = checker.free_throughout(row[0], row[1], *row[2], *row[3], static_cast<float>(*row[4]));
        call.out[0].data[state] = free ? 1.0 : 0.0;
    }
}

}  // namespace

constexpr KernelEntry entries[] = {{"curve_free", curve_free}};
extern const KernelList curve_checks_kernels;
const KernelList curve_checks_kernels = entries;

}  // namespace kinodyn::KINODYN_TARGET
