// Rows made lower triangular by reflections from the right: which directions they depend on, and which they leave.
#pragma once

#include "solver/dense.hpp"

namespace kinodyn::KINODYN_TARGET {

// Adds `damping` to the diagonal, and what keeps rounding from making it negative where weights lie far apart.
inline void stiffen(const Matrix& H, long n, double damping) {
    double largest = 0;
    for (long j = 0; j < n; ++j)
        if (H[j][j] > largest) largest = H[j][j];
    for (long j = 0; j < n; ++j) H[j][j] += damping + 1e-14 * largest;
}

// B = L Q with L lower triangular up to the order of rows, and Q = I - V^T T V (R. Schreiber, C. Van Loan, "A
// storage-efficient WY representation for products of Householder transformations", 1989). The largest row comes first;
// a row counts as dependent when what is left of it is at most `rank_tolerance` of the row as it was given.
class Elimination {
  public:
    Matrix V, T;
    int* order = nullptr;  // of the rows
    long rank = 0;

    static long words(long rows, long n) {
        const long most = rows < n ? rows : n;
        return Memory::words(most, n + lanes) + Memory::words(most, most) + 4 * padded(rows) + padded(n) +
               Memory::words(most, most);
    }
    void take(Memory& memory, long rows, long n) {
        const long most = rows < n ? rows : n;
        V = memory.matrix(most, n + lanes);
        T = memory.matrix(most, most);
        H_ = memory.matrix(most, most);
        for (double** x : {&tau_, &first_, &left_}) *x = memory.take(rows);
        order = reinterpret_cast<int*>(memory.take(rows));
        inverse_ = memory.take(n);
    }

    // B of m rows and n columns becomes L. `norm` holds the lengths of the rows as they were given.
    void reduce(const Matrix& B, long m, long n, const double* norm, double rank_tolerance) {
        const long end = padded(n);
        rank = 0;
        for (long i = 0; i < m; ++i) {
            order[i] = static_cast<int>(i);
            first_[i] = left_[i] = dot(B[i], B[i], 0, end);
        }
        for (long k = 0; k < m && k < n; ++k) {
            long best = -1;
            for (long i = k; i < m; ++i) {
                const int row = order[i];
                if (left_[row] <= rank_tolerance * rank_tolerance * norm[row] * norm[row]) continue;
                if (best < 0 || left_[row] > left_[order[best]]) best = i;
            }
            if (best < 0) break;
            const int chosen = order[best];
            order[best] = order[k], order[k] = chosen;
            double length;
            clear_row(V[k], block_of(k));
            clear_row(V[k] + end, lanes);
            tau_[k] = reflector(B[chosen], k, end, V[k], length);
            for (long i = k + 1; i < m; ++i) {
                double* row = B[order[i]];
                add(-tau_[k] * dot(row, V[k], block_of(k), end), V[k], row, block_of(k), end);
                shorten(B, order[i], k, n);
            }
            B[chosen][k] = length;
            for (long j = k + 1; j < end; ++j) B[chosen][j] = 0;
            ++rank;
        }
        for (long i = rank; i < m; ++i)
            for (long j = rank; j < end; ++j) B[order[i]][j] = 0;
        gather(end);
    }

    // y (rank numbers) with L y = rest as nearly as can be, damped: |L y - rest|^2 + damping |y|^2 is least.
    // Leaves Cholesky's factor of L^T L + damping in `factor()` unless the answer is exact without it.
    void solve(const Matrix& L, long m, const double* rest, double damping, double* y) {
        clear_row(y, padded(rank));
        if (damping == 0 && substitute(L, m, rest, y)) return;
        factorize(L, m, damping);
        for (int pass = 0; pass < 2; ++pass) {  // once more with what is missing: normal equations lose digits
            clear_row(first_, padded(rank));
            for (long i = 0; i < m; ++i) {
                double missing = rest[order[i]];
                const double* row = L[order[i]];
                for (long j = 0; pass > 0 && j < rank; ++j) missing -= row[j] * y[j];
                for (long j = 0; j < rank; ++j) first_[j] += missing * row[j];
            }
            for (long j = 0; pass > 0 && j < rank; ++j) first_[j] -= damping * y[j];
            solve_symmetric(H_, rank, inverse_, first_);
            for (long j = 0; j < rank; ++j) y[j] += first_[j];
        }
    }

    // Cholesky's factor of L^T L + damping.
    void factorize(const Matrix& L, long m, double damping) {
        for (long j = 0; j < rank; ++j) clear_row(H_[j], padded(rank));
        for (long i = 0; i < m; ++i) {
            const double* row = L[order[i]];
            const long filled = i < rank ? i + 1 : rank;
            for (long j = 0; j < filled; ++j) add(row[j], row, H_[j], block_of(j), padded(rank));
        }
        stiffen(H_, rank, damping);
        factor_symmetric(H_, rank, inverse_);
    }
    const Matrix& factor() const { return H_; }
    const double* inverse() const { return inverse_; }

    // What y (rank numbers, then zeros) is in the directions as they were before: Q^T y.
    void turn(const double* y, long n, double* out) {
        const long end = padded(n);
        for (long i = 0; i < rank; ++i) first_[i] = dot(V[i], y, 0, padded(rank));
        for (long i = 0; i < rank; ++i) {
            double total = 0;
            for (long j = i; j < rank; ++j) total += T[i][j] * first_[j];
            left_[i] = -total;
        }
        combine(V, 0, rank, left_, end, out);
        for (long j = 0; j < rank; ++j) out[j] += y[j];
    }

  private:
    // Forward substitution; true if the rows that depend on others are met as well.
    bool substitute(const Matrix& L, long m, const double* rest, double* y) const {
        double size = 0, missing = 0;
        for (long i = 0; i < m; ++i) {
            const double* row = L[order[i]];
            double total = rest[order[i]];
            size += total * total;
            const long before = i < rank ? i : rank;
            for (long j = 0; j < before; ++j) total -= row[j] * y[j];
            if (i < rank)
                y[i] = total / row[i];
            else
                missing += total * total;
        }
        return missing <= 1e-20 * size;
    }

    void gather(long end) {
        for (long i = 0; i < rank; ++i) clear_row(T[i], padded(rank));
        for (long k = 0; k < rank; ++k) {
            for (long j = 0; j < k; ++j) inverse_[j] = dot(V[k], V[j], block_of(k), end);
            for (long i = 0; i < k; ++i) {
                double total = 0;
                for (long j = i; j < k; ++j) total += T[i][j] * inverse_[j];
                T[i][k] = -tau_[k] * total;
            }
            T[k][k] = tau_[k];
        }
    }

    // What is left of a row beyond element k; computed anew where the difference has lost its digits.
    void shorten(const Matrix& B, int row, long k, long n) {
        constexpr double doubtful = 1e-6;
        const double* b = B[row];
        left_[row] -= b[k] * b[k];
        if (left_[row] > doubtful * first_[row]) return;
        double square = 0;
        for (long j = k + 1; j < n; ++j) square += b[j] * b[j];
        left_[row] = first_[row] = square;
    }

    Matrix H_;
    double *tau_, *first_, *left_, *inverse_;
};

}  // namespace kinodyn::KINODYN_TARGET
