// Continuous collision checks of polynomial motions.
#include <algorithm>

#include "bindings/define.hpp"
#include "bindings/functions.hpp"
#include "core/moving_sphere.hpp"

namespace kinodyn {

void bind_curves(nanobind::module_& m) {
    export_layouts<MovingSphere>();
    add_constant("curve_coefficients", curve_coefficients);
    // Pieces integrate(q, x(t)) over t from 0 to their duration; x(t) has coefficients (curve_coefficients, nv).
    // Spheres are at their places of time 0 when `start` + t is 0.
    define(m, "curve_free",
           [](Args& args, Any query, Any spheres, Any q, Any coefficients, Any duration, Any start, Any resolution) {
               const Table<MovingSphere> table("spheres", spheres);
               auto* moving = args.allocate<MovingSphere>(table.size() + 1);
               std::copy(table.begin(), table.end(), moving);
               args.settings(
                   CurveQuery{nanobind::cast<const CollisionQuery*>(query), moving, static_cast<long>(table.size())});
               args.configuration("q", q);
               args.matrix("coefficients", coefficients, curve_coefficients, args.model().nv);
               args.scalar("duration", duration);
               args.scalar("start", start);
               args.scalar("resolution", resolution);
               args.output({});
           });
}

}  // namespace kinodyn
