// The inverse of the mass matrix, and its products with matrices that have the sparsity of the tree: column c is zero
// except in the rows of degrees of freedom on a path to the root with c, which are the ancestors of c and its subtree.
//
// Columns are solved for in blocks, and rows in pairs of a degree of freedom and its parent, so that their sums fill
// the registers: several sums hide the latency of each, and both rows share what they load. The row that a sum has to
// wait for, the last one before it, comes last in it, and that of a pair stays in registers. One state uses the lanes
// of packs for neighbouring columns.
#pragma once

#include "kernels/world.hpp"

namespace kinodyn::KINODYN_TARGET {

template <class T>
class TreeInverse {
  public:
    static long words(const Model& m) { return 3 * m.nv; }
    // `factor` is M = L^T D L as in world.hpp.
    TreeInverse(Work<T>& w, const T* factor)
        : model_(w.model),
          H_(factor),
          inverse_(w.take(w.model.nv)),
          path_(reinterpret_cast<Ancestor*>(w.take(2 * w.model.nv))),
          nv_(w.model.nv) {
        for (long k = 0; k < nv_; ++k) inverse_[k] = 1.0 / factor[k * (nv_ + 1)];
    }

    // b = -M^-1 b and c = -M^-1 c, matrices with nv columns and the sparsity of the tree.
    void solve_negated(T* b, T* c) const {
        T* const x[2] = {b, c};
        for_column_blocks<2>([&](auto block, long first) {
            using B = decltype(block);
            long last = first + B::columns;
            for (long k = first; k < first + B::columns; ++k)
                last = model_.dof_end[k] > last ? model_.dof_end[k] : last;
            reduce<B>(x, first, last);
            expand<B>(x, first, 0, last, -1.0);
        });
    }

    // out = M^-1. By symmetry, each block of columns needs the rows from its first on only.
    void invert(T* out) const {
        T* const x[1] = {out};
        for_column_blocks<1>([&](auto block, long first) {
            using B = decltype(block);
            const long last = first + B::columns;
            put_identity(out, first, last);
            reduce<B>(x, first, last);
            for (long j = 0; j < first; ++j)
                for (long c = first; c < last; ++c) out[j * nv_ + c] = out[c * nv_ + j];
            expand<B>(x, first, first, last, 1.0);
        });
    }

  private:
    // A pack at any address: memcpy would store it in halves, which delays its next load.
    typedef double Unaligned __attribute__((vector_size(8 * KINODYN_LANES), aligned(8), may_alias));

    // n neighbours in a row of each matrix; an element E is a T, or a pack of several.
    template <class E, int n, int matrices>
    struct Block {
        static constexpr long step = sizeof(E) / sizeof(T), columns = n * step;
        using Matrices = T* const[matrices];
        E value[matrices][n];

        void load(const Matrices& x, long at) {
            for (int m = 0; m < matrices; ++m)
                for (int c = 0; c < n; ++c) value[m][c] = element(x[m] + at + step * c);
        }
        void scale(const T& factor) {
            for (auto& row : value)
                for (E& own : row) own *= factor;
        }
        void store(const Matrices& x, long at) const {
            for (int m = 0; m < matrices; ++m)
                for (int c = 0; c < n; ++c) put(x[m] + at + step * c, value[m][c]);
        }
        void clear() {
            for (auto& row : value)
                for (E& own : row) own = 0.0;
        }
        void subtract(const T& factor, const Block& other) {
            for (int m = 0; m < matrices; ++m)
                for (int c = 0; c < n; ++c) value[m][c] -= factor * other.value[m][c];
        }
        static E element(const T* at) {
            if constexpr (step == 1)
                return *at;
            else
                return Pack::Vector(*reinterpret_cast<const Unaligned*>(at));
        }
        static void put(T* at, const E& element) {
            if constexpr (step == 1)
                *at = element;
            else
                *reinterpret_cast<Unaligned*>(at) = element.v;
        }
    };

    // Calls f(block, first column) for blocks that cover all columns.
    template <int matrices, class F>
    void for_column_blocks(F&& f) const {
        constexpr int widest = 4 / matrices;
        long first = 0;
        cover<Block<Pack, widest, matrices>>(first, f);
        cover<Block<Pack, widest / 2, matrices>>(first, f);
        cover<Block<Pack, 1, matrices>>(first, f);
        cover<Block<T, 2, matrices>>(first, f);
        cover<Block<T, 1, matrices>>(first, f);
    }
    template <class B, class F>
    void cover(long& first, F&& f) const {
        for (; first + B::columns <= nv_; first += B::columns) f(B{}, first);
    }

    // Columns first .. last of the identity matrix, in the rows that `reduce` reads.
    void put_identity(T* x, long first, long last) const {
        const auto clear = [&](long j) {
            for (long c = first; c < last; ++c) x[j * nv_ + c] = 0.0;
        };
        for (long j = first; j < last; ++j) clear(j), x[j * (nv_ + 1)] = 1.0;
        for (long j = model_.dof_parent[first]; j >= 0; j = model_.dof_parent[j]) clear(j);
    }

    // x = L^-T x for a block of columns from `first` on, whose rows are zero from `last` on and, before `first`, unless
    // they are ancestors of it.
    template <class B>
    void reduce(const typename B::Matrices& x, long first, long last) const {
        const auto next = [&](long j) { return j > first ? j - 1 : model_.dof_parent[j]; };
        const auto end = [&](long j) { return model_.dof_end[j] < last ? model_.dof_end[j] : last; };
        for (long j = last - 1; j >= 0;) {
            const long above = next(j);
            if (above >= 0 && model_.dof_parent[j] == above && end(j) == end(above)) {
                reduce_rows<B, 2>(x, first, j, end(j));
                j = next(above);
            } else {
                reduce_rows<B, 1>(x, first, j, end(j));
                j = above;
            }
        }
    }
    // Row j and, of two rows, its parent; `end`: of the subtree of both.
    template <class B, int rows>
    void reduce_rows(const typename B::Matrices& x, long first, long j, long end) const {
        const long row[2] = {j, rows == 2 ? model_.dof_parent[j] : j};
        B sum[rows];
        for (int r = 0; r < rows; ++r) sum[r].load(x, row[r] * nv_ + first);
        for (long i = end - 1; i >= (j < first ? first : j + 1); --i) subtract_row<B, rows>(sum, x, first, i, row);
        for (long i = model_.dof_parent[first]; i > j; i = model_.dof_parent[i])
            subtract_row<B, rows>(sum, x, first, i, row);
        if constexpr (rows == 2) sum[1].subtract(H_[j * nv_ + row[1]], sum[0]);
        for (int r = 0; r < rows; ++r) sum[r].store(x, row[r] * nv_ + first);
    }
    template <class B, int rows>
    void subtract_row(B (&sum)[rows], const typename B::Matrices& x, long first, long i, const long (&row)[2]) const {
        const T* const factors = H_ + i * nv_;
        B other;
        other.load(x, i * nv_ + first);
        for (int r = 0; r < rows; ++r) sum[r].subtract(factors[row[r]], other);
    }

    // x = sign (D L)^-1 x for a block of columns from `first` on, in the rows from `row` on; those before are solved,
    // and those from `last` on are zero, whatever the memory holds.
    template <class B>
    void expand(const typename B::Matrices& x, long first, long row, long last, double sign) const {
        const int* const parent = model_.dof_parent.data();
        long depth = path_to(parent[row]);
        for (long i = row; i < nv_;) {
            while (depth > 0 && path_[depth - 1].dof != parent[i]) --depth;
            const bool pair = i + 1 < nv_ && parent[i + 1] == i;
            if (pair)
                expand_rows<B, 2>(x, first, i, last, depth, sign);
            else
                expand_rows<B, 1>(x, first, i, last, depth, sign);
            for (const long end = i + (pair ? 2 : 1); i < end; ++i) path_[depth++] = ancestor(i);
        }
    }
    // Row i and, of two rows, the one after it, whose parent it is.
    template <class B, int rows>
    void expand_rows(const typename B::Matrices& x, long first, long i, long last, long depth, double sign) const {
        B sum[rows];
        for (int r = 0; r < rows; ++r) {
            if (i + r < last) {
                sum[r].load(x, (i + r) * nv_ + first);
                sum[r].scale(sign * inverse_[i + r]);
            } else {
                sum[r].clear();
            }
        }
        const T* const factors = H_ + i * nv_;
        for (const Ancestor *j = path_, *const end = path_ + depth; j != end; ++j) {
            B other;
            other.load(x, j->row + first);
            for (int r = 0; r < rows; ++r) sum[r].subtract(factors[r * nv_ + j->dof], other);
        }
        if constexpr (rows == 2) sum[1].subtract(factors[nv_ + i], sum[0]);
        for (int r = 0; r < rows; ++r) sum[r].store(x, (i + r) * nv_ + first);
    }

    // A degree of freedom on the path to the root, and where its row begins: a product for each sum would take as long.
    struct Ancestor {
        long dof, row;
    };
    Ancestor ancestor(long dof) const { return {dof, dof * nv_}; }

    // Writes the path from the root to a degree of freedom, which may be -1; returns its length.
    long path_to(long i) const {
        long depth = 0;
        for (long j = i; j >= 0; j = model_.dof_parent[j]) ++depth;
        for (long j = i, k = depth; j >= 0; j = model_.dof_parent[j]) path_[--k] = ancestor(j);
        return depth;
    }

    const Model& model_;
    const T* const H_;
    T* const inverse_;  // of D
    Ancestor* const path_;
    const long nv_;
};

}  // namespace kinodyn::KINODYN_TARGET
