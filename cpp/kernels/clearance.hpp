// Clearances of pairs of links that depend on one or two coordinates only, read from tables (core/collision.hpp).
#pragma once

#include "core/collision.hpp"
#include "kernels/float_pack.hpp"

namespace kinodyn::KINODYN_TARGET {

// Clearances of a table at lanes of configurations; undecided beyond its range.
inline FloatPack clearance(const ClearanceTable& table, const FloatPack* q) {
    FloatMask index{}, outside{};
    for (const TableAxis& axis : table.axis) {
        if (axis.iq < 0) continue;
        FloatPack x = q[axis.iq];
        if (axis.period > 0) {
            const auto period = static_cast<float>(axis.period);
            x = x - period * rounded(x * (1.0f / period));
        }
        const FloatPack cell = (x - static_cast<float>(axis.low)) * static_cast<float>(1.0 / axis.step);
        const auto last = static_cast<float>(axis.count);
        outside |= (cell < 0.0f) | (last <= cell);
        index = index * axis.count + truncated(clamp(cell, 0.0f, last - 1.0f));
    }
    return select(outside, ClearanceTable::undecided, gather(table.cells.data(), index));
}

}  // namespace kinodyn::KINODYN_TARGET
