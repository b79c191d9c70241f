// Orthogonal elimination: rows B = L Q, where Householder reflectors from the right make L lower triangular up to the
// order of its rows. The first `rank` rows of Q are the directions on which the rows depend, the others are free.
//
// Q is kept in compact form, Q = I - V^T T V (R. Schreiber, C. Van Loan, "A storage-efficient WY representation for
// products of Householder transformations", 1989). T itself is never formed: its inverse has 1 / tau on the diagonal
// and the products of the rows of V below it (C. Puglisi, "Modification of the Householder method based on the compact
// WY representation", 1992).
#pragma once

#include "solver/dense.hpp"

namespace kinodyn::KINODYN_TARGET {

class Elimination {
  public:
    Matrix V;          // (rank, columns): one Householder vector per row
    long columns = 0;  // of B, and order of Q
    long rank = 0;

    static long words(long rows, long n) {
        const long most = rows < n ? rows : n;
        return Memory::words(most, n + lanes) + Memory::words(most, most) + 5 * padded(rows) + padded(most);
    }
    void take(Memory& memory, long rows, long n) {
        const long most = rows < n ? rows : n;
        V = memory.matrix(most, n + lanes);
        products_ = memory.matrix(most, most);
        for (double** x : {&tau_, &norm_, &left_, &least_}) *x = memory.take(rows);
        row_ = reinterpret_cast<double**>(memory.take(rows));
        product_ = memory.take(most);
    }

    // B (rows x columns) becomes L, with row pivoting: the longest row comes first. A row counts as dependent on those
    // before it if its remainder is at most `rank_tolerance` of its length before any projection.
    void reduce(const Matrix& B, long rows, long columns_of_B, const double* squared_norm, double rank_tolerance) {
        columns = columns_of_B;
        B_ = B, m_ = rows;
        const long end = padded(columns);
        for (long i = 0; i < rows; ++i) {
            row_[i] = B[i];
            least_[i] = rank_tolerance * rank_tolerance * squared_norm[i];
            norm_[i] = dot(B[i], B[i], 0, end);
            left_[i] = norm_[i] > least_[i] ? norm_[i] : 0;
        }
        for (rank = 0; rank < rows && rank < columns && pivot(); ++rank) reflect_below(end);
        for (long i = 0; i < rows; ++i)
            for (long j = rank; j < padded(rank); ++j) B[i][j] = 0;
        products_of_rows(V, rank, end, products_);
    }

    // Solves L y = b by forward substitution; false if rows that depend on others contradict them.
    bool substitute(const double* b, double* y) const {
        double size = 0, missing = 0;
        for (long i = 0; i < m_; ++i) {
            const double own = b[(row_[i] - B_.data) / B_.stride], *row = row_[i];
            double rest = own;
            for (long j = 0; j < i && j < rank; ++j) rest -= row[j] * y[j];
            size += own * own;
            if (i < rank)
                y[i] = rest / row[i];
            else
                missing += rest * rest;
        }
        for (long i = rank; i < padded(rank); ++i) y[i] = 0;
        return missing <= 1e-20 * size;
    }

    // Q^T y for the vector y of `rank` numbers; writes up to column `end` (padded).
    void apply_transposed(const double* y, double* out, long end) const {
        multiply(V, rank, y, padded(rank), product_);
        for (long k = rank - 1; k >= 0; --k) {
            const double own = -tau_[k] * product_[k];
            add(own, products_[k], product_, 0, block_of(k));
            for (long i = block_of(k); i < k; ++i) product_[i] += own * products_[k][i];
            product_[k] = own;
        }
        combine(V, 0, rank, product_, padded(columns), out);
        for (long j = 0; j < rank; ++j) out[j] += y[j];
        for (long j = padded(columns); j < end; ++j) out[j] = 0;
    }

    // X = T B for B of `rank` rows and n columns (padded).
    void multiply_T(const Matrix& B, long n, const Matrix& X) const {
        long j = 0;
        const auto block = [&](auto wide) {
            constexpr int w = decltype(wide)::value;
            for (long k = rank - 1; k >= 0; --k) {
                Pack::Vector total[w];
                for (int c = 0; c < w; ++c) total[c] = load(B[k] + j + c * lanes);
                for (long i = k + 1; i < rank; ++i)
                    for (int c = 0; c < w; ++c) total[c] -= products_[i][k] * load(X[i] + j + c * lanes);
                for (int c = 0; c < w; ++c) store(X[k] + j + c * lanes, tau_[k] * total[c]);
            }
            j += w * lanes;
        };
        while (j + 4 * lanes <= n) block(std::integral_constant<int, 4>{});
        while (j + 2 * lanes <= n) block(std::integral_constant<int, 2>{});
        if (j < n) block(std::integral_constant<int, 1>{});
    }

  private:
    // Moves the longest of the remaining rows to position `rank`; false if all of them are dependent.
    bool pivot() {
        long best = rank;
        for (long i = rank + 1; i < m_; ++i)
            if (left_[i] > left_[best]) best = i;
        for (double* x : {least_, norm_, left_}) swap(x[best], x[rank]);
        swap(row_[best], row_[rank]);
        return left_[rank] > 0;
    }
    template <class X>
    static void swap(X& a, X& b) {
        const X old = a;
        a = b, b = old;
    }

    // Reflects row `rank` onto its diagonal element, and applies the reflector to the rows below.
    void reflect_below(long end) {
        const long k = rank;
        double length;
        clear_row(V[k], block_of(k));
        clear_row(V[k] + end, lanes);
        tau_[k] = reflector(row_[k], k, end, V[k], length);
        reflect(row_ + k + 1, m_ - k - 1, V[k], tau_[k], block_of(k), end);
        row_[k][k] = length;
        clear_from(row_[k], k + 1, end);
        for (long i = k + 1; i < m_; ++i) downdate(i, k);
    }

    // The squared length of row i beyond element k; recomputed where the difference has lost its digits.
    void downdate(long i, long k) {
        constexpr double nearly_dependent = 1e-6;
        const double* b = row_[i];
        left_[i] -= b[k] * b[k];
        if (left_[i] > nearly_dependent * norm_[i]) return;
        double square = 0;
        for (long j = k + 1; j < columns; ++j) square += b[j] * b[j];
        norm_[i] = square;
        left_[i] = square > least_[i] ? square : 0;
    }

    Matrix B_;         // the rows, in the order in which they were given
    double** row_;     // the rows in the order of their pivots
    long m_ = 0;       // rows
    Matrix products_;  // of the rows of V
    double *tau_, *product_;
    double *norm_, *left_, *least_;  // squared lengths: when last computed exactly, of the remainder, of a zero row
};

}  // namespace kinodyn::KINODYN_TARGET
