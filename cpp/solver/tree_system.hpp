// Positive definite systems with the sparsity of a kinematic tree, and a few dense terms of rank one in addition.
#pragma once

#include "core/tree_structure.hpp"
#include "solver/cholesky.hpp"

namespace kinodyn::KINODYN_TARGET {

// Solves (N + sum_k r_k r_k^T) x = g, where N has entries only between a degree of freedom and those towards the root:
// N = L^T D L (Featherstone 2008, table 6.3), and the dense terms by the matrix inversion lemma.
//
// Inner loops run over whole blocks: most are short, and loops whose length the processor cannot predict cost more than
// their arithmetic. What is computed in the padding is not used.
template <class T>
class TreeSystem {
  public:
    TreeSystem(const TreeStructure& tree, int most_terms, T* memory)
        : tree_(tree), n_(tree.size()), N_(memory), R_(N_ + tree.entries) {
        A_ = R_ + most_terms * (n_ + 1L);
        b_ = A_ + most_terms * most_terms;
        x_ = b_ + most_terms;
    }
    static long words(const TreeStructure& tree, long most_terms) {
        const long n = tree.size();
        return tree.entries + most_terms * (n + 2 + most_terms) + n + 1;
    }

    void clear() {
        terms_ = 0;
        for (long k = 0; k < tree_.entries; ++k) N_[k] = 0.0;
    }
    // Entry of N, j being i or on its path to the root.
    T& at(int i, int j) { return N_[tree_.row[i] + tree_.depth[j]]; }
    T& diagonal(int i) { return at(i, i); }
    // Entries of N between i and the path from the root to it.
    T* row(int i) { return N_ + tree_.row[i]; }

    // A vector r to be filled, whose product r r^T is added.
    T* add_term() { return term(terms_++); }

    // Replaces the rows and columns of degrees of freedom with free = 0 by those of the identity.
    void fix(const T* free) {
        for (int i = 0; i < n_; ++i) {
            T* const own = row(i);
            for (int d = 0; d < tree_.depth[i]; ++d) own[d] *= free[i] * free[tree_.path[i][d]];
            diagonal(i) = free[i] * diagonal(i) + (1.0 - free[i]);
            for (int k = 0; k < terms_; ++k) term(k)[i] *= free[i];
        }
    }

    // The solution replaces g; N and the terms are overwritten.
    void solve(T* g) {
        factor();
        for (int i = 0; i < n_; ++i) x_[i] = g[i];
        apply_inverse_transposed(x_);
        for (int k = 0; k < terms_; ++k) apply_inverse_transposed(term(k));
        if (terms_ > 0) subtract_terms(g);
        apply_inverse(x_);
        for (int i = 0; i < n_; ++i) g[i] = x_[i];
    }

  private:
    static constexpr int block = TreeStructure::block;

    // L below the diagonal, the inverse of D on it.
    void factor() {
        for (int k = n_ - 1; k >= 0; --k) {
            T* const own = row(k);
            const int depth = tree_.depth[k];
            const int* const path = tree_.path[k].data();
            const T inverse = 1.0 / own[depth];
            for (int d = depth - 1; d >= 0; --d) {
                const T a = own[d] * inverse;
                T* const other = row(path[d]);
                for (int e = 0; e <= d; e += block)
                    for (int i = 0; i < block; ++i) other[e + i] -= a * own[e + i];
                own[d] = a;
            }
            own[depth] = inverse;
        }
    }
    // With w = L^-T r of the terms and y = L^-T g: y - sum_k w_k b_k, (1 + W^T D^-1 W) b = W^T D^-1 y.
    void subtract_terms(T* work) {
        for (int k = 0; k < terms_; ++k) {
            for (int i = 0; i < n_; ++i) work[i] = term(k)[i] * diagonal(i);
            for (int m = 0; m <= k; ++m) A_[k * terms_ + m] = product(work, term(m));
            A_[k * terms_ + k] += 1.0;
            b_[k] = product(work, x_);
        }
        cholesky(
            A_, terms_, terms_, [&](long i, long j) { return A_[i * terms_ + j]; }, [](long, const T& d) { return d; });
        cholesky_solve(A_, terms_, terms_, b_);
        for (int k = 0; k < terms_; ++k)
            for (int i = 0; i < n_; ++i) x_[i] -= term(k)[i] * b_[k];
    }
    // x = L^-T x; x has one entry more than N, which padding refers to.
    void apply_inverse_transposed(T* x) const {
        x[n_] = 0.0;
        for (int k = n_ - 1; k >= 0; --k) {
            const T* const own = N_ + tree_.row[k];
            const int* const path = tree_.path[k].data();
            const T value = x[k];
            if (Lanes<T>::all_zero(value)) continue;  // most terms concern one limb or two
            for (int d = 0; d < tree_.depth[k]; d += block)
                for (int i = 0; i < block; ++i) x[path[d + i]] -= own[d + i] * value;
        }
    }
    // x = L^-1 D^-1 x
    void apply_inverse(T* x) const {
        x[n_] = 0.0;
        for (int k = 0; k < n_; ++k) {
            const T* const own = N_ + tree_.row[k];
            const int* const path = tree_.path[k].data();
            T sum[block] = {x[k] * own[tree_.depth[k]], T(0.0), T(0.0), T(0.0)};
            for (int d = 0; d < tree_.depth[k]; d += block)
                for (int i = 0; i < block; ++i) sum[i] -= own[d + i] * x[path[d + i]];
            x[k] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
        }
    }
    T product(const T* a, const T* b) const {
        T sum[2] = {T(0.0), T(0.0)};
        int i = 0;
        for (; i + 2 <= n_; i += 2) sum[0] += a[i] * b[i], sum[1] += a[i + 1] * b[i + 1];
        for (; i < n_; ++i) sum[0] += a[i] * b[i];
        return sum[0] + sum[1];
    }
    T* term(int k) { return R_ + k * (n_ + 1L); }

    const TreeStructure& tree_;
    const int n_;
    int terms_ = 0;
    T *N_, *R_, *A_, *b_, *x_;
};

}  // namespace kinodyn::KINODYN_TARGET
