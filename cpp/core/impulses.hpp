// Impulses of unilateral contacts with dry friction.
#pragma once

namespace kinodyn {

// For m points with velocities c + A x after the impulses x, three coordinates each with the normal first: find x with
// x_n >= 0, normal velocity at least b, one of the two active, and friction |x_t| <= mu x_n that opposes sliding.
// Points with mu below 0 do not take part.
struct ImpulseProblem {
    int m;
    const double *A, *c, *b, *mu;  // (3 m, 3 m), (3 m), (m), (m)
    double* x;                     // (3 m): the first guess, then the solution

    double velocity(int row) const;
    double diagonal(int row) const { return A[row * 3 * m + row]; }
    // Solves for one point with all others fixed; returns the largest change of its velocity.
    double solve_point(int i) const;
};

// Projected Gauss-Seidel, point by point (J. J. Moreau 1988; M. Jean, "The non-smooth contact dynamics method", 1999).
// Returns the change of velocity in the last sweep.
double solve_impulses(const ImpulseProblem& problem, double tolerance, int max_sweeps, int& sweeps);

}  // namespace kinodyn
