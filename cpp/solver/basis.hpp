// The directions that the levels of a hierarchy have left free: an orthonormal basis N of n rows.
//
// At first all directions are free, each that of one variable. A level turns those that it depends on and takes some
// away. Directions that no level has touched yet are neither stored nor multiplied: so a robot's arms cost nothing
// while its feet are seen to. Variables are kept in an order of their own, the touched ones first:
//
//     N = [ mixed  0 ]   rows_ variables, columns_ directions
//         [ 0      I ]
#pragma once

#include "solver/dense.hpp"

namespace kinodyn::KINODYN_TARGET {

// A product of reflections I - V^T T V, with T triangular: its inverse has 1 / tau on the diagonal and the products of
// the rows of V beside it (C. Puglisi, "Modification of the Householder method based on the compact WY representation",
// 1992), so T itself is not needed. It turns the first `used` directions.
struct Reflections {
    Matrix V, products;
    double* tau;
    long count = 0, used = 0;

    // Once all of V and tau are known.
    void gather() { products_of_rows(V, count, padded(used), products); }

    // X = T B; B has `n` columns (padded).
    void scale(const Matrix& B, long n, const Matrix& X) const {
        long j = 0;
        const auto block = [&](auto wide) {
            constexpr int w = decltype(wide)::value;
            for (long k = count - 1; k >= 0; --k) {
                Pack::Vector total[w];
                for (int c = 0; c < w; ++c) total[c] = load(B[k] + j + c * lanes);
                for (long i = k + 1; i < count; ++i)
                    for (int c = 0; c < w; ++c) total[c] -= products[i][k] * load(X[i] + j + c * lanes);
                for (int c = 0; c < w; ++c) store(X[k] + j + c * lanes, tau[k] * total[c]);
            }
            j += w * lanes;
        };
        while (j + 4 * lanes <= n) block(std::integral_constant<int, 4>{});
        while (j + 2 * lanes <= n) block(std::integral_constant<int, 2>{});
        if (j < n) block(std::integral_constant<int, 1>{});
    }

    // What y, along the first `count` turned directions, is along the directions as they were.
    void turn(const double* y, double* product, double* turned, long free) const {
        const long end = padded(used);
        multiply(V, count, y, padded(count), product);
        for (long k = count - 1; k >= 0; --k) {
            const double own = -tau[k] * product[k];
            add(own, products[k], product, 0, block_of(k));
            for (long i = block_of(k); i < k; ++i) product[i] += own * products[k][i];
            product[k] = own;
        }
        combine(V, 0, count, product, end, turned);
        for (long j = 0; j < count; ++j) turned[j] += y[j];
        for (long j = end; j < padded(free); ++j) turned[j] = 0;
    }
};

class Basis {
  public:
    static long words(long n, long rows) { return 4 * Memory::words(n, n) + Memory::words(rows, n) + 4 * padded(n); }
    // For n variables and up to `rows` rows to project at once.
    void take(Memory& memory, long n, long rows) {
        n_ = n;
        for (Matrix* M : {&N_, &next_, &X_, &Y_}) *M = memory.matrix(n, n);
        arranged_ = memory.matrix(rows, n);
        sum_ = memory.take(n);
        moved_ = memory.take(n);
        at_ = reinterpret_cast<int*>(memory.take(n));
        place_ = reinterpret_cast<int*>(memory.take(n));
    }

    void start() {
        rows_ = columns_ = 0;
        sort();
    }
    long free() const { return columns_ + n_ - rows_; }

    // Puts the untouched variables on which A, or `scale` of single variables, depends before the others; returns how
    // many directions, from the first, the two depend on.
    long arrange(const Matrix& A, long rows, const double* scale) {
        if (rows_ == n_) return columns_;
        const long end = padded(n_);
        for (long j = 0; j < end; j += lanes) {
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

    // All of it, stored, with the variables in their usual order.
    const Matrix& whole() {
        const long free = this->free(), end = padded(free);
        if (rows_ == n_ && natural_) return N_;
        for (long k = 0; k < n_; ++k) {
            double* row = next_[at_[k]];
            clear_row(row, end);
            if (k < rows_)
                memcpy(row, N_[k], sizeof(double) * static_cast<std::size_t>(columns_));
            else
                row[columns_ + k - rows_] = 1;
        }
        rows_ = n_, columns_ = free;
        sort();
        swap();
        return N_;
    }

    // B = A N.
    void project(const Matrix& A, long rows, const Matrix& B) const {
        const long free = this->free(), end = padded(free);
        if (natural_) {
            multiply(A, rows, rows_, N_, padded(columns_), B);
        } else {
            for (long i = 0; i < rows; ++i)
                for (long k = 0; k < rows_; ++k) arranged_[i][k] = A[i][at_[k]];
            multiply(arranged_, rows, rows_, N_, padded(columns_), B);
        }
        for (long i = 0; i < rows; ++i) {
            const double* a = A[i];
            double* rest = B[i] + columns_ - rows_;
            for (long k = rows_; k < n_; ++k) rest[k] = a[at_[k]];
            clear_from(B[i], free, end);
        }
    }
    // The same for one row that is `s` at one variable.
    void project(long variable, double s, double* b) const {
        const long end = padded(free()), k = place_[variable];
        clear_row(b, end);
        if (k < rows_)
            for (long j = 0; j < padded(columns_); j += lanes) store(b + j, s * load(N_[k] + j));
        else
            b[columns_ + k - rows_] = s;
    }

    // x = N y.
    void move(const double* y, double* x) const {
        multiply(N_, rows_, y, padded(columns_), moved_);
        for (long k = 0; k < rows_; ++k) x[at_[k]] = moved_[k];
        for (long k = rows_; k < n_; ++k) x[at_[k]] = y[columns_ + k - rows_];
    }

    // Turns the directions, and leaves out those before `from`.
    void turn(const Reflections& by, long from) {
        const long touched = rows_ + by.used - columns_, now = by.used - from, end = padded(now);
        const Matrix rest = {by.V.data + from, by.V.rows, by.V.columns, by.V.stride};
        by.scale(rest, end, X_);
        multiply_turned(by.V, by.count, by.used, X_, end, Y_);  // what is taken from the identity
        for (long i = 0; i < rows_; ++i) {
            clear_row(next_[i], end);
            if (columns_ > from)
                memcpy(next_[i], N_[i] + from, sizeof(double) * static_cast<std::size_t>(columns_ - from));
        }
        multiply<true>(N_, rows_, columns_, Y_, end, next_);
        for (long i = rows_, j = columns_; i < touched; ++i, ++j) {
            for (long k = 0; k < end; k += lanes) store(next_[i] + k, -load(Y_[j] + k));
            if (j >= from) next_[i][j - from] += 1;
        }
        for (long i = 0; i < touched; ++i) clear_from(next_[i], now, end);
        rows_ = touched, columns_ = now;
        swap();
    }
    // Leaves out the first directions of the whole.
    void drop(long count) {
        const long now = columns_ - count, end = padded(columns_);
        for (long i = 0; i < n_; ++i) {
            memmove(N_[i], N_[i] + count, sizeof(double) * static_cast<std::size_t>(now));
            clear_from(N_[i], now, end);
        }
        columns_ = now;
    }

    void drop_all() { rows_ = n_, columns_ = 0; }

  private:
    static void clear_from(double* row, long from, long end) {
        for (long j = from; j < end; ++j) row[j] = 0;
    }
    void sort() {
        for (long k = 0; k < n_; ++k) at_[k] = place_[k] = static_cast<int>(k);
        natural_ = true;
    }
    void swap() {
        const Matrix old = N_;
        N_ = next_, next_ = old;
    }
    long n_ = 0;
    long rows_ = 0, columns_ = 0;  // of the part that is mixed
    Matrix N_, next_, X_, Y_, arranged_;
    double *sum_, *moved_;
    int *at_, *place_;     // the variable at each place, and the place of each variable
    bool natural_ = true;  // the two are the identity
};

}  // namespace kinodyn::KINODYN_TARGET
