// Poses of the bodies of several configurations at once, one per lane, in single precision.
#pragma once

#include "core/collision.hpp"
#include "kernels/float_pack.hpp"
#include "kernels/placement.hpp"

namespace kinodyn::KINODYN_TARGET {

template <int axis>
inline void revolve(const FloatBody& b, const FloatPack* q, const Placement<FloatPack>& parent,
                    Placement<FloatPack>& body) {
    const SinCos<FloatPack> angle = sincos_reduced(b.scale * q[b.iq] + b.offset);
    body.R = AxisRotation<axis, FloatPack>{angle.cos, angle.sin}.after(b.kind == Kind::RevoluteAny ? parent.R * mat(b.R)
                                                                                                   : parent.R);
    body.p = parent.p + parent.R * vec(b.p);
}

inline void place_body(const FloatBody& b, const FloatPack* q, const Placement<FloatPack>& parent,
                       Placement<FloatPack>& body) {
    switch (b.kind) {
        case Kind::RevoluteX: return revolve<0>(b, q, parent, body);
        case Kind::RevoluteY: return revolve<1>(b, q, parent, body);
        case Kind::RevoluteZ:
        case Kind::RevoluteAny: return revolve<2>(b, q, parent, body);
        case Kind::Prismatic: {
            const FloatPack d = b.scale * q[b.iq] + b.offset;
            body.R = b.aligned ? parent.R : parent.R * mat(b.R);
            body.p = parent.p + parent.R * vec(b.p) + body.R * (d * vec(b.axis));
            return;
        }
        case Kind::Ball:
            body.R = parent.R * (mat(b.R) * rotation(q + b.iq));
            body.p = parent.p + parent.R * vec(b.p);
            return;
        case Kind::Free: {
            const Vec3<FloatPack> slide = {q[b.iq], q[b.iq + 1], q[b.iq + 2]};
            body.R = parent.R * (mat(b.R) * rotation(q + b.iq + 3));
            body.p = parent.p + parent.R * (vec(b.p) + mat(b.R) * slide);
            return;
        }
    }
}

}  // namespace kinodyn::KINODYN_TARGET
