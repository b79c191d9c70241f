// J M^-1 J^T and products with it, with M = L^T D L, computed only along the joints that move each constraint.
//
// W = L^-T J^T is zero wherever J^T and its ancestors are, so that a foot's rows involve only the base and its leg.
// A = W^T D^-1 W; J M^-1 x = W^T D^-1 (L^-T x); M^-1 (x + J^T f) = L^-1 D^-1 (L^-T x + W f).
#pragma once

#include "kernels/constraints.hpp"

namespace kinodyn::KINODYN_TARGET {

// Rows of one constraint, and the degrees of freedom that move it, last first, with all their ancestors.
struct Support {
    long first;
    int rows, count;
    const int* dofs;
};

// x = L^-T x and x = L^-1 x, for one column.
template <class T>
inline void solve_down(const Model& model, const T* H, T* x) {
    for (long i = model.nv - 1; i >= 0; --i)
        for (long j = model.dof_parent[i]; j >= 0; j = model.dof_parent[j]) x[j] -= H[i * model.nv + j] * x[i];
}
template <class T>
inline void solve_up(const Model& model, const T* H, T* x) {
    for (long i = 0; i < model.nv; ++i) {
        T total = x[i];
        for (long j = model.dof_parent[i]; j >= 0; j = model.dof_parent[j]) total -= H[i * model.nv + j] * x[j];
        x[i] = total;
    }
}

template <class T>
class Reduction {
  public:
    static long words(long nv, long m, long constraints) {
        return 3 * nv * m + nv + (constraints + 2) * nv + constraints * long(sizeof(Support) / sizeof(double));
    }

    [[gnu::noinline]] Reduction(Work<T>& w, const ConstraintList& constraints)
        : model_(w.model), m_(constraints.rows), n_(constraints.count) {
        const long nv = model_.nv, m = m_;
        J_ = w.take(nv * m), W_ = w.take(nv * m), Y_ = w.take(nv * m), inverse_ = w.take(nv);
        int* indices = reinterpret_cast<int*>(w.take((n_ + 2L) * nv));
        supports_ = reinterpret_cast<Support*>(w.take(n_ * long(sizeof(Support) / sizeof(double))));
        common_ = indices, stamp_ = indices + nv;
        for (long k = 0; k < nv; ++k) stamp_[k] = -1;
        int* next = stamp_ + nv;
        long row = 0;
        for (int k = 0; k < n_; ++k) {
            const ConstraintRecord& c = constraints.records[k];
            mark(c.frame, k), mark(c.other, k);
            Support& s = supports_[k];
            s = {row, c.rows(), 0, next};
            for (long d = nv - 1; d >= 0; --d)
                if (stamp_[d] == k) next[s.count++] = static_cast<int>(d);
            next += s.count, row += s.rows;
        }
    }

    // Memory for the columns of constraint k: a row of J^T for each degree of freedom, `m` apart; zero initially.
    T* clear(int k) {
        const Support& s = supports_[k];
        for (int d = 0; d < s.count; ++d)
            for (int c = 0; c < s.rows; ++c) J_[s.dofs[d] * m_ + s.first + c] = 0.0;
        return J_ + s.first;
    }

    // Decouples a degree of freedom from all constraints.
    void clear_dof(int dof) {
        for (int k = 0; k < n_; ++k)
            for (int d = 0; d < supports_[k].count; ++d)
                if (supports_[k].dofs[d] == dof)
                    for (int c = 0; c < supports_[k].rows; ++c) J_[dof * m_ + supports_[k].first + c] = 0.0;
    }

    int rows(int k) const { return supports_[k].rows; }

    // Computes W from J^T, and A (m, m). H: the factor of M from factor().
    [[gnu::noinline]] void reduce(const T* H, T* A) {
        for (long k = 0; k < model_.nv; ++k) inverse_[k] = 1.0 / H[k * model_.nv + k];
        for (int k = 0; k < n_; ++k) with_rows(supports_[k].rows, [&](auto n) { reduce_one<n.value>(H, k); });
        for (int k = 0; k < n_; ++k)
            for (int l = 0; l <= k; ++l) with_rows(supports_[k].rows, [&](auto n) { multiply<n.value>(k, l, A); });
    }

    // b -= J M^-1 x, given y = L^-T x.
    void subtract_reduced(T* b, const T* y) const { subtract(Y_, b, y); }
    // b -= J x
    void subtract_moved(T* b, const T* x) const { subtract(J_, b, x); }

    // x M^-1 x, given y = L^-T x.
    T power(const T* y) const {
        T total = 0.0;
        for (long k = 0; k < model_.nv; ++k) total += inverse_[k] * y[k] * y[k];
        return total;
    }

    // y = M^-1 (x + J^T f), given y = L^-T x.
    [[gnu::noinline]] void solve(const T* H, const T* f, T* y) const {
        for (int k = 0; k < n_; ++k)
            for (int d = 0; d < supports_[k].count; ++d) {
                const long dof = supports_[k].dofs[d];
                const T* row = W_ + dof * m_ + supports_[k].first;
                for (int c = 0; c < supports_[k].rows; ++c) y[dof] += row[c] * f[supports_[k].first + c];
            }
        for (long k = 0; k < model_.nv; ++k) y[k] *= inverse_[k];
        solve_up(model_, H, y);
    }

  private:
    void subtract(const T* rows, T* b, const T* x) const {
        for (int k = 0; k < n_; ++k)
            for (int d = 0; d < supports_[k].count; ++d) {
                const long dof = supports_[k].dofs[d];
                const T* row = rows + dof * m_ + supports_[k].first;
                for (int c = 0; c < supports_[k].rows; ++c) b[supports_[k].first + c] -= row[c] * x[dof];
            }
    }

    void mark(int frame, int k) {
        if (frame < 0) return;
        for (int b = model_.frames[frame].body; b >= 0; b = model_.bodies[b].parent) {
            const Body& body = model_.bodies[b];
            for (int col = body.column; col < body.column + dofs(body.kind); ++col)
                for (int d = model_.column_iv[col]; d >= 0 && stamp_[d] != k; d = model_.dof_parent[d]) stamp_[d] = k;
        }
    }

    // Loops over a number of rows known at compile time.
    template <class F>
    static void with_rows(int rows, F&& f) {
        switch (rows) {
            case 1: return f(std::integral_constant<int, 1>{});
            case 2: return f(std::integral_constant<int, 2>{});
            case 3: return f(std::integral_constant<int, 3>{});
            case 4: return f(std::integral_constant<int, 4>{});
            case 5: return f(std::integral_constant<int, 5>{});
            default: return f(std::integral_constant<int, 6>{});
        }
    }

    template <int n>
    void reduce_one(const T* H, int k) {
        const Support& s = supports_[k];
        T *W = W_ + s.first, *Y = Y_ + s.first;
        const T* J = J_ + s.first;
        for (int d = 0; d < s.count; ++d)
            for (int c = 0; c < n; ++c) W[s.dofs[d] * m_ + c] = J[s.dofs[d] * m_ + c];
        for (int d = 0; d < s.count; ++d) {
            const long i = s.dofs[d];
            T row[n];
            for (int c = 0; c < n; ++c) row[c] = W[i * m_ + c];
            for (int c = 0; c < n; ++c) Y[i * m_ + c] = inverse_[i] * row[c];
            for (long j = model_.dof_parent[i]; j >= 0; j = model_.dof_parent[j]) {
                const T l = H[i * model_.nv + j];
                for (int c = 0; c < n; ++c) W[j * m_ + c] -= l * row[c];
            }
        }
    }

    // The block of A for constraints k and l, and its transpose.
    template <int n>
    void multiply(int k, int l, T* A) {
        const Support &s = supports_[k], &t = supports_[l];
        const int count = find_common(s, t);
        for (long a = t.first; a < t.first + t.rows; ++a) {
            T total[n];
            for (int c = 0; c < n; ++c) total[c] = 0.0;
            for (int d = 0; d < count; ++d) {
                const T y = Y_[common_[d] * m_ + a];
                const T* row = W_ + common_[d] * m_ + s.first;
                for (int c = 0; c < n; ++c) total[c] += y * row[c];
            }
            for (int c = 0; c < n; ++c) A[(s.first + c) * m_ + a] = A[a * m_ + s.first + c] = total[c];
        }
    }

    int find_common(const Support& s, const Support& t) {
        int count = 0;
        for (int i = 0, j = 0; i < s.count && j < t.count;) {
            if (s.dofs[i] == t.dofs[j])
                common_[count++] = s.dofs[i], ++i, ++j;
            else if (s.dofs[i] > t.dofs[j])
                ++i;
            else
                ++j;
        }
        return count;
    }

    const Model& model_;
    const long m_;
    const int n_;
    T *J_, *W_, *Y_, *inverse_;
    Support* supports_;
    int *common_, *stamp_;
};

// Compiled once, in constrained_dynamics.cpp.
extern template class Reduction<double>;
extern template class Reduction<Pack>;

}  // namespace kinodyn::KINODYN_TARGET
