// An orthonormal basis N of the directions of x that the levels of a hierarchy have left free.
//
// Initially all directions are free, one for each variable. A level rotates those that it depends on and removes
// some. Directions that no level has touched yet are neither stored nor multiplied: a robot's arms cost nothing
// while the levels of its feet are solved. Variables are permuted, the touched ones first:
//
//     N = [ mixed  0 ]   rows_ variables, columns_ directions
//         [ 0      I ]
#pragma once

#include "solver/elimination.hpp"

namespace kinodyn::KINODYN_TARGET {

class NullSpace {
  public:
    static long words(long n, long rows) { return 4 * Memory::words(n, n) + Memory::words(rows, n) + 4 * padded(n); }
    // For up to n variables and `rows` rows to project at once.
    void take(Memory& memory, long n, long rows) {
        for (Matrix* M : {&N_, &next_, &X_, &Y_}) *M = memory.matrix(n, n);
        permuted_ = memory.matrix(rows, n);
        sum_ = memory.take(n);
        moved_ = memory.take(n);
        at_ = reinterpret_cast<int*>(memory.take(n));
        place_ = reinterpret_cast<int*>(memory.take(n));
    }

    void start(long n) {
        n_ = n, rows_ = columns_ = 0, natural_ = true;
        for (long k = 0; k < n_; ++k) at_[k] = place_[k] = static_cast<int>(k);
    }
    long dimension() const { return columns_ + n_ - rows_; }
    bool untouched() const { return rows_ == 0; }
    // The direction that is a variable alone, or -1 if levels have mixed it with others.
    long direction_of(long variable) const {
        const long k = place_[variable];
        return k < rows_ ? -1 : columns_ + k - rows_;
    }

    // Moves the untouched variables on which A, or `scale` of single variables, depends before the others; returns how
    // many directions, from the first, the two depend on.
    long touch(const Matrix& A, long rows, const double* scale) {
        if (rows_ == n_) return columns_;
        for (long j = 0; j < padded(n_); j += lanes) {
            Pack::Vector total = {};
            for (long i = 0; i < rows; ++i) {
                const Pack::Vector a = load(A[i] + j);
                total += a * a;
            }
            store(sum_ + j, total);
        }
        long next = rows_;
        for (long k = rows_; k < n_; ++k) {
            const int variable = at_[k];
            if (sum_[variable] == 0 && !(scale && scale[variable] != 0)) continue;
            natural_ &= k == next;
            at_[k] = at_[next], at_[next++] = variable;
        }
        if (!natural_)
            for (long k = rows_; k < n_; ++k) place_[at_[k]] = static_cast<int>(k);
        return columns_ + next - rows_;
    }

    // B = A N, where A depends on the first `used` directions only.
    void project(const Matrix& A, long rows, long used, const Matrix& B) const {
        const long end = padded(dimension()), touched = rows_ + used - columns_;
        if (!natural_) gather(A, rows, 0, rows_, permuted_, 0);
        multiply(natural_ ? A : permuted_, rows, rows_, N_, padded(columns_), B);
        gather(A, rows, rows_, touched, B, columns_);
        for (long i = 0; i < rows; ++i) clear_from(B[i], used, end);
    }
    // The same for one row that is `s` at one variable.
    void project(long variable, double s, double* b) const {
        const long k = place_[variable];
        clear_row(b, padded(dimension()));
        if (k < rows_)
            for (long j = 0; j < padded(columns_); j += lanes) store(b + j, s * load(N_[k] + j));
        else
            b[columns_ + k - rows_] = s;
    }

    // out = x + N y.
    void move(const double* y, const double* x, double* out) const {
        multiply(N_, rows_, y, padded(columns_), moved_);
        for (long k = 0; k < rows_; ++k) out[at_[k]] = x[at_[k]] + moved_[k];
        for (long k = rows_; k < n_; ++k) out[at_[k]] = x[at_[k]] + y[columns_ + k - rows_];
    }

    // Moves x to the nearest point of origin + N; `change` is scratch memory of n numbers.
    void project_point(const double* origin, double* x, double* change) const {
        for (long k = 0; k < rows_; ++k) change[k] = x[at_[k]] - origin[at_[k]];
        combine(N_, 0, rows_, change, padded(columns_), sum_);
        multiply(N_, rows_, sum_, padded(columns_), change);
        for (long k = 0; k < rows_; ++k) x[at_[k]] = origin[at_[k]] + change[k];
    }

    // The rows of J become the columns of N, over all variables in their usual order, up to `end` (padded).
    void write_transposed(const Matrix& J, long end) const {
        for (long k = 0; k < dimension(); ++k) clear_row(J[k], end);
        for (long i = 0; i < rows_; ++i) {
            double* to = J.data + at_[i];
            for (long k = 0; k < columns_; ++k, to += J.stride) *to = N_[i][k];
        }
        for (long i = rows_; i < n_; ++i) J[columns_ + i - rows_][at_[i]] = 1;
    }

    // N Q^T without its first `from` columns.
    void rotate(const Elimination& Q, long from) {
        const long touched = rows_ + Q.columns - columns_, now = Q.columns - from, end = padded(now);
        Q.multiply_T({Q.V.data + from, Q.V.rows, Q.V.columns, Q.V.stride}, end, X_);
        multiply_transposed(N_, rows_, Q.V, Q.rank, padded(columns_), Y_);
        for (long i = 0; i < rows_; ++i) {
            clear_row(next_[i], end);
            if (columns_ > from)
                memcpy(next_[i], N_[i] + from, sizeof(double) * static_cast<std::size_t>(columns_ - from));
        }
        for (long i = rows_, j = columns_; i < touched; ++i, ++j) {
            clear_row(next_[i], end);
            if (j >= from) next_[i][j - from] = 1;
        }
        multiply<true>(Y_, rows_, Q.rank, X_, end, next_);
        const Matrix rest = {next_[rows_], next_.rows, next_.columns, next_.stride};
        multiply<true, true>({Q.V.data + columns_, Q.V.rows, Q.V.columns, Q.V.stride}, touched - rows_, Q.rank, X_, end,
                             rest);
        for (long i = 0; i < touched; ++i) clear_from(next_[i], now, end);
        rows_ = touched, columns_ = now;
        const Matrix old = N_;
        N_ = next_, next_ = old;
    }
    // Removes the first `count` of the directions that have been rotated.
    void remove(long count) {
        const long now = columns_ - count, end = padded(columns_);
        for (long i = 0; i < rows_; ++i) {
            memmove(N_[i], N_[i] + count, sizeof(double) * static_cast<std::size_t>(now));
            clear_from(N_[i], now, end);
        }
        columns_ = now;
    }
    void remove_all() { rows_ = n_, columns_ = 0; }

  private:
    // B[i][column...] = A[i] at the variables of positions `first` to `last`; four rows share each index.
    void gather(const Matrix& A, long rows, long first, long last, const Matrix& B, long column) const {
        if (natural_) {
            for (long i = 0; i < rows && last > first; ++i)
                memcpy(B[i] + column, A[i] + first, sizeof(double) * static_cast<std::size_t>(last - first));
            return;
        }
        long i = 0;
        const auto block = [&](auto height) {
            constexpr int h = decltype(height)::value;
            const double* from = A[i];
            double* to = B[i] + column - first;
            for (long k = first; k < last; ++k)
                for (int r = 0; r < h; ++r) to[r * B.stride + k] = from[r * A.stride + at_[k]];
            i += h;
        };
        while (i + 4 <= rows) block(std::integral_constant<int, 4>{});
        while (i < rows) block(std::integral_constant<int, 1>{});
    }
    long n_ = 0;
    long rows_ = 0, columns_ = 0;  // of the part that is mixed
    Matrix N_, next_, X_, Y_, permuted_;
    double *sum_, *moved_;
    int *at_, *place_;     // the variable at each position, and the position of each variable
    bool natural_ = true;  // both permutations are the identity
};

}  // namespace kinodyn::KINODYN_TARGET
