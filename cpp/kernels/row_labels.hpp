// Labels by which the rows of limits are recognised from one step to the next, for the warm start of the active set:
// a limit may have other rows, in another order, in each step.
#pragma once

#include "solver/dense.hpp"

namespace kinodyn::KINODYN_TARGET {

class RowLabels {
  public:
    static long words(long rows) { return 3 * padded(rows); }
    void take(Memory& memory, long rows) {
        rows_ = rows;
        for (double** x : {&before_, &now_}) *x = memory.take(rows);
        place_ = reinterpret_cast<std::int64_t*>(memory.take(rows));
    }

    // Starts a step without rows. `before`: the labels of the previous one, which are copied.
    void start(const double* before) {
        for (long i = 0; i < rows_; ++i) before_[i] = before[i], now_[i] = 0;
        count_ = 0;
    }

    // Adds a row; its label is a positive number.
    void add(double label) {
        place_[count_] = find(label);
        now_[count_++] = label;
    }

    // The sides on which the rows were active before, given those of the previous step.
    void guess(const double* sides_before, double* sides) const {
        for (long i = 0; i < count_; ++i) sides[i] = place_[i] < 0 ? 0 : sides_before[place_[i]];
    }

    void write(double* labels) const {
        for (long i = 0; i < rows_; ++i) labels[i] = now_[i];
    }
    long count() const { return count_; }

  private:
    // Most rows keep their place or move by little.
    long find(double label) const {
        for (long k = 0, i = count_; k < rows_; ++k, i = i + 1 < rows_ ? i + 1 : 0)
            if (before_[i] == label) return i;
        return -1;
    }

    long rows_ = 0, count_ = 0;
    double *before_ = nullptr, *now_ = nullptr;
    std::int64_t* place_ = nullptr;
};

}  // namespace kinodyn::KINODYN_TARGET
