#include "core/qp.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace kinodyn {

namespace {

constexpr double negative_curvature = 1e-9;  // below minus this fraction of the diagonal it is not rounding
// Residuals of sums in which large numbers cancel, or whose terms are all rounding, are measured relative to these
// fractions of the largest number of their kind and of the unit of the program.
constexpr double fraction_of_largest = 1e-4, fraction_of_unit = 1e-6;
constexpr double rounding = 1e-12;          // of bounds, relative to the largest one
constexpr double rounding_of_sums = 5e-14;  // of a row, relative to its terms
constexpr double tiny = 1e-300;             // 0 / tiny = 0

double magnitude(double bound) { return std::isfinite(bound) ? std::fabs(bound) : 0.0; }

// The magnitude of the largest bound.
double largest_bound(const QpView& qp) {
    double largest = 0;
    for (int k = 0; k < qp.n + qp.m; ++k) largest = std::max({largest, magnitude(qp.lower[k]), magnitude(qp.upper[k])});
    return largest;
}
// The smallest magnitude of a bound above `negligible`, at most 1.
double smallest_bound(const QpView& qp, double negligible) {
    double nearest = 1;
    for (int k = 0; k < qp.n + qp.m; ++k)
        for (const double bound : {qp.lower[k], qp.upper[k]})
            if (magnitude(bound) > negligible) nearest = std::min(nearest, magnitude(bound));
    return nearest;
}

// The largest magnitude of an entry of g; 1 if all are 0.
double largest_slope(const QpView& qp) {
    double largest = 0;
    for (int i = 0; i < qp.n; ++i) largest = std::max(largest, std::fabs(qp.g[i]));
    return largest > 0 ? largest : 1.0;
}

// Sums term(0) ... term(n - 1) in several independent accumulators.
template <class Term>
double sum(std::ptrdiff_t n, Term term) {
    constexpr int lanes = 8;
    double sums[lanes] = {};
    std::ptrdiff_t i = 0;
    for (; i + lanes <= n; i += lanes)
        for (int k = 0; k < lanes; ++k) sums[k] += term(i + k);
    for (int k = 0; i < n; ++i, ++k) sums[k] += term(i);
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

// a'y and |a|'|y|
struct Product {
    double value, size;
    Product(const double* a, const double* y, int n)
        : value(sum(n, [=](std::ptrdiff_t i) { return a[i] * y[i]; })),
          size(sum(n, [=](std::ptrdiff_t i) { return std::fabs(a[i] * y[i]); })) {}
};

// A variable without curvature has the unit in which its largest coefficient equals that of the others in its row.
void unit_of_flat_variables(const QpView& qp, double* unit) {
    if (std::all_of(unit, unit + qp.n, [](double value) { return value > 0; })) return;
    std::vector<double> row(static_cast<std::size_t>(qp.m));
    for (int j = 0; j < qp.m; ++j) {
        const double* a = qp.A + j * qp.n;
        double curved = 0, any = 0;
        for (int i = 0; i < qp.n; ++i) {
            any = std::max(any, std::fabs(a[i]));
            if (unit[i] > 0) curved = std::max(curved, std::fabs(a[i]) * unit[i]);
        }
        row[static_cast<std::size_t>(j)] = curved > 0 ? curved : any;
    }
    for (int i = 0; i < qp.n; ++i) {
        if (unit[i] > 0) continue;
        double largest = 0;
        for (int j = 0; j < qp.m; ++j) {
            const double size = row[static_cast<std::size_t>(j)];
            if (size > 0) largest = std::max(largest, std::fabs(qp.A[j * qp.n + i]) / size);
        }
        unit[i] = largest > 0 ? 1.0 / largest : 1.0;
    }
}

// The magnitude of a solution that the bounds indicate: the median of those that are not 0.
double median_bound(const QpView& qp, const double* lower, const double* upper) {
    std::vector<double> sizes;
    for (int k = 0; k < qp.n + qp.m; ++k)
        for (const double bound : {lower[k], upper[k]})
            if (magnitude(bound) > 0) sizes.push_back(magnitude(bound));
    if (sizes.empty()) return 1.0;
    const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
    std::nth_element(sizes.begin(), middle, sizes.end());
    return *middle;
}

bool all_finite(const double* values, std::ptrdiff_t size) {
    constexpr double largest = 1e60;
    // a sum within the limit has no NaN, and none of its terms is above the limit
    if (sum(size, [=](std::ptrdiff_t k) { return std::fabs(values[k]); }) <= largest) return true;
    return std::all_of(values, values + size, [](double value) { return std::fabs(value) <= largest; });
}

bool is_symmetric(const double* H, int n) {
    constexpr double tolerance = 1e-6;
    double skewness = 0;
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < i; ++k)
            if (H[i * n + k] != H[k * n + i]) skewness = std::max(skewness, std::fabs(H[i * n + k] - H[k * n + i]));
    if (skewness == 0) return true;
    double largest = 0;
    for (int k = 0; k < n * n; ++k) largest = std::max(largest, std::fabs(H[k]));
    return skewness <= tolerance * largest;
}

}  // namespace

const char* find_fault(const QpView& qp) {
    const std::ptrdiff_t n = qp.n, m = qp.m;
    if (n < 1 || !all_finite(qp.H, n * n) || !all_finite(qp.g, n) || !all_finite(qp.A, m * n))
        return "a quadratic program takes finite numbers";
    if (!is_symmetric(qp.H, qp.n)) return "H is not symmetric";
    constexpr double infinite = std::numeric_limits<double>::infinity();
    for (std::ptrdiff_t k = 0; k < n + m; ++k)
        if (!(qp.lower[k] <= qp.upper[k]) || qp.lower[k] == infinite || qp.upper[k] == -infinite)
            return "a lower bound is above its upper bound";
    return nullptr;
}

void scale(const QpView& qp, bool by_bounds, ScaledQp& out) {
    const int n = qp.n, m = qp.m;
    bool curved = false;
    for (int i = 0; i < n; ++i) {
        const double h = qp.H[i * n + i];
        out.x_unit[i] = h > 0 ? 1.0 / std::sqrt(h) : 0.0;
        curved = curved || h > 0;
    }
    unit_of_flat_variables(qp, out.x_unit);
    for (int i = 0; i < n; ++i) {
        const double half = 0.5 * out.x_unit[i];
#pragma omp simd
        for (int k = 0; k < n; ++k) out.H[i * n + k] = half * out.x_unit[k] * (qp.H[i * n + k] + qp.H[k * n + i]);
    }
    for (int j = 0; j < m; ++j) {
        double* row = out.A + j * n;
#pragma omp simd
        for (int i = 0; i < n; ++i) row[i] = qp.A[j * n + i] * out.x_unit[i];
        const double length = std::sqrt(sum(n, [=](std::ptrdiff_t i) { return row[i] * row[i]; }));
        const double inverse = length > 0 ? 1.0 / length : 1.0;
        out.row_unit[j] = length > 0 ? length : 1.0;
        for (int i = 0; i < n; ++i) row[i] *= inverse;
    }
    double slope = 0, distance = 0;
    for (int i = 0; i < n; ++i) {
        out.g[i] = qp.g[i] * out.x_unit[i];
        slope = std::max(slope, std::fabs(out.g[i]));
    }
    for (int k = 0; k < n + m; ++k) {
        const double unit = k < n ? out.x_unit[k] : out.row_unit[k - n];
        out.lower[k] = qp.lower[k] / unit;
        out.upper[k] = qp.upper[k] / unit;
        distance = std::max({distance, out.lower[k], -out.upper[k]});
    }
    double unit = curved ? std::max(slope, distance) : distance;
    if (by_bounds || (unit == 0 && !curved)) unit = median_bound(qp, out.lower, out.upper);
    if (unit == 0) unit = 1;
    const double force = curved && !by_bounds ? unit : std::max(slope, curved ? unit : 0.0);
    out.cost_unit = force > 0 ? force * unit : 1.0;
    out.has_cost = curved || slope > 0;
    if (by_bounds)
        for (int k = 0; k < n * n; ++k) out.H[k] *= unit * unit / out.cost_unit;
    for (int i = 0; i < n; ++i) {
        out.g[i] *= unit / out.cost_unit;
        out.x_unit[i] *= unit;
    }
    for (int j = 0; j < m; ++j) out.row_unit[j] *= unit;
    for (int k = 0; k < n + m; ++k) {
        out.lower[k] /= unit;
        out.upper[k] /= unit;
    }
}

bool is_convex(const QpView& scaled, double* U) {
    const int n = scaled.n;
    std::copy(scaled.H, scaled.H + n * n, U);
    for (int k = 0; k < n; ++k) {  // H = U'D U, row by row; D stays on the diagonal
        double* row = U + k * n;
        const double pivot = row[k] + negative_curvature * n;
        if (!(pivot > 0)) return false;
        for (int i = k + 1; i < n; ++i) {
            if (row[i] == 0) continue;
            const double factor = row[i] / pivot;
            double* below = U + i * n;
            for (int j = i; j < n; ++j) below[j] -= factor * row[j];
        }
    }
    return true;
}

QpResiduals residuals(const QpView& qp, const double* y, const double* multipliers, bool with_floor, double* scratch) {
    const int n = qp.n, m = qp.m;
    double *slope = scratch, *forces = scratch + n;
    double largest_y = 0, largest_multiplier = 0, curvature_cost = 0, linear_cost = 0;
    for (int i = 0; i < n; ++i) largest_y = std::max(largest_y, std::fabs(y[i]));
    for (int k = 0; k < n + m; ++k) largest_multiplier = std::max(largest_multiplier, std::fabs(multipliers[k]));
    for (int i = 0; i < n; ++i) {
        const Product bent(qp.H + i * n, y, n);
        curvature_cost += y[i] * bent.value;
        linear_cost += qp.g[i] * y[i];
        slope[i] = bent.value + qp.g[i] + multipliers[i];
        forces[i] = bent.size + std::fabs(qp.g[i]) + std::fabs(multipliers[i]);
    }
    // Floors are fractions of the largest numbers and of the unit of the program, but not above the numbers of a row.
    // Bounds of the magnitude of rounding errors count as 0: such a row has no magnitude.
    const double unit = with_floor ? fraction_of_unit : 0, negligible = rounding * largest_bound(qp);
    const double nearest = smallest_bound(qp, negligible);
    const auto length_floor = [&](double size, double bound) {
        return std::min(fraction_of_unit * largest_y + unit, size + (bound > negligible ? bound : nearest));
    };
    QpResiduals worst{0, 0, 0, 0, 0};
    double gap = 0, pushed = 0;
    for (int k = 0; k < n + m; ++k) {
        double at = k < n ? y[k] : 0, size = k < n ? std::fabs(y[k]) : 0;
        const double* a = k < n ? nullptr : qp.A + (k - n) * n;
        bool rounded = true;
        if (a) {
            const Product row(a, y, n);
            at = row.value;
            size = row.size;
            rounded = size > 0 || std::any_of(a, a + n, [](double value) { return value != 0; });
        }
        const double beyond = std::max({at - qp.upper[k], qp.lower[k] - at, 0.0});
        const double violated = magnitude(at > qp.upper[k] ? qp.upper[k] : qp.lower[k]);
        if (violated > negligible && beyond > rounding_of_sums * size)
            worst.beyond_bounds = std::max(worst.beyond_bounds, beyond / violated);
        if (rounded) size += length_floor(size, violated);
        size += tiny;  // nothing is rounded in a row of zeros
        worst.primal = std::max(worst.primal, beyond / size);
        if (multipliers[k] == 0) continue;
        if (a)
            for (int i = 0; i < n; ++i) {
                slope[i] += a[i] * multipliers[k];
                forces[i] += std::fabs(a[i] * multipliers[k]);
            }
        const double bound = multipliers[k] > 0 ? qp.upper[k] : qp.lower[k];
        const double away = std::fabs(bound - at), share = std::fabs(multipliers[k]) / largest_multiplier;
        worst.complementarity = std::max(worst.complementarity, std::min(away / size, share));
        gap += std::fabs(multipliers[k]) * away;
        pushed += std::fabs(multipliers[k]) * magnitude(bound);
    }
    const double largest_force = *std::max_element(forces, forces + n);
    const double force_floor = with_floor ? std::min(unit, largest_slope(qp)) : 0;
    const double floor = fraction_of_largest * largest_force + force_floor + tiny;
    for (int i = 0; i < n; ++i) worst.dual = std::max(worst.dual, std::fabs(slope[i]) / (forces[i] + floor));
    const double cost_floor = std::max(largest_force, force_floor) * length_floor(largest_y, 0);
    worst.gap = gap / (std::fabs(curvature_cost) + std::fabs(linear_cost) + pushed + cost_floor + tiny);
    return worst;
}

}  // namespace kinodyn
