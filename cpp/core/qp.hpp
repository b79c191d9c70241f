// Convex quadratic programs, min 1/2 x'Hx + g'x subject to lower <= x <= upper and rows_lower <= A x <= rows_upper:
// scaling to numbers near 1, and the residuals of the KKT conditions at a point.
#pragma once

namespace kinodyn {

// A program in row-major arrays. The bounds are stacked: n bounds of variables first, then m rows of A.
struct QpView {
    int n, m;
    const double *H, *g, *A;
    const double *lower, *upper;  // (n + m), infinite where there is none
};

// The scaled program and its units: x = x_unit y, row = row_unit (scaled row), cost = cost_unit (scaled cost).
struct ScaledQp {
    double *H, *g, *A;          // (n, n), (n), (m, n)
    double *lower, *upper;      // (n + m)
    double *x_unit, *row_unit;  // (n), (m)
    double cost_unit;
    bool has_cost;  // false: H and g are 0, and any feasible point is a minimum
};

// Residuals of the Karush-Kuhn-Tucker (KKT) conditions, relative to the magnitude of the terms of each.
struct QpResiduals {
    double primal;           // violation of rows and bounds
    double dual;             // gradient of the Lagrangian
    double complementarity;  // multipliers of bounds that are not reached
    double gap;              // primal cost minus dual cost
    double beyond_bounds;    // violation relative to the bounds themselves, beyond what rounding explains
};

// Returns a description of invalid numbers, or nullptr: not finite, not symmetric, lower bounds above upper ones.
const char* find_fault(const QpView& qp);

// Scales a program such that each variable with curvature has curvature 1, each row has length 1, and the larger of the
// gradient at 0 and the distance of 0 to the farthest violated bound is 1. `by_bounds`: the median bound is 1 instead,
// and the larger of curvature and gradient; for programs whose unconstrained minimum is much farther away than the
// bounds.
void scale(const QpView& qp, bool by_bounds, ScaledQp& scaled);

// Returns whether H has no direction of negative curvature beyond rounding. `scratch` holds n^2 numbers.
bool is_convex(const QpView& scaled, double* scratch);

// Measures a scaled program at y (n) with multipliers (n + m), above 0 at upper bounds. With the floor, 1e-6 is added
// to the denominators of the residuals: rounding errors in the unit of the program then do not count as residuals, even
// where all terms of a condition are rounding errors. The floor is lower where the numbers of the program are: a
// violation of the magnitude of a bound is never below it. `scratch` holds 2 n numbers.
QpResiduals residuals(const QpView& scaled, const double* y, const double* multipliers, bool with_floor,
                      double* scratch);

}  // namespace kinodyn
