// Arrays that functions without a batch take and return.
#pragma once

#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "bindings/args.hpp"

namespace kinodyn {

template <class T, int axes>
using InputArray = nanobind::ndarray<const T, nanobind::ndim<axes>, nanobind::c_contig, nanobind::device::cpu>;
using Numbers = InputArray<double, 1>;
using Rows = InputArray<double, 2>;
using Indices = InputArray<std::int32_t, 1>;
using IndexRows = InputArray<std::int32_t, 2>;
using Flags = InputArray<bool, 1>;
using FlagRows = InputArray<bool, 2>;

inline void require(bool right, const char* message) {
    if (!right) raise_input_error(message);
}

// A new NumPy array of this shape with a copy of the numbers.
template <class T>
nanobind::object as_array(const std::vector<T>& values, std::initializer_list<std::size_t> shape) {
    auto* data = new double[std::max<std::size_t>(values.size(), 1)];
    std::copy(values.begin(), values.end(), data);
    const nanobind::capsule owner(data, [](void* p) noexcept { delete[] static_cast<double*>(p); });
    return nanobind::cast(nanobind::ndarray<nanobind::numpy, double>(data, shape.size(), shape.begin(), owner));
}

}  // namespace kinodyn
