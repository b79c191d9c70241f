// Retargeting of clips. Python has checked all arguments; here only shapes are, which the core relies on.
#include "core/retarget.hpp"

#include <nanobind/ndarray.h>

#include <algorithm>
#include <cmath>

#include "bindings/arrays.hpp"
#include "bindings/define.hpp"
#include "bindings/functions.hpp"
#include "bindings/run_problem.hpp"

namespace nb = nanobind;

namespace kinodyn {

namespace {

using Cube = InputArray<double, 3>;
using Blocks = InputArray<float, 4>;
template <int axes, class Real = double>
using Updated = nb::ndarray<Real, nb::ndim<axes>, nb::c_contig, nb::device::cpu>;

void check_dofs(const Model& model, const Indices& dofs) {
    for (std::size_t k = 0; k < dofs.size(); ++k) require(dofs(k) >= 0 && dofs(k) < model.nv, "a dof is out of range");
}

void set_structure(RetargetProblem& p, const Indices& dofs, const Indices& bodies) {
    const Model& model = *p.model;
    p.dofs.assign(dofs.data(), dofs.data() + dofs.size());
    p.dof_index.assign(static_cast<std::size_t>(model.nv), -1);
    for (std::size_t k = 0; k < p.dofs.size(); ++k)
        p.dof_index[static_cast<std::size_t>(p.dofs[k])] = static_cast<int>(k);
    for (std::size_t k = 0; k < bodies.size(); ++k)
        require(bodies(k) >= 0 && bodies(k) < static_cast<int>(model.bodies.size()), "a body is out of range");
    const auto index = [&](int v) { return p.dof_index[static_cast<std::size_t>(v)]; };
    for (std::size_t i = 0; i < model.bodies.size(); ++i) {
        std::vector<RetargetProblem::Column> chain;
        for (int b = static_cast<int>(i); b >= 0; b = model.bodies[static_cast<std::size_t>(b)].parent) {
            const Body& body = model.bodies[static_cast<std::size_t>(b)];
            for (int d = kinodyn::dofs(body.kind) - 1; d >= 0; --d)
                if (index(body.iv + d) >= 0) chain.push_back({body.column + d, index(body.iv + d)});
        }
        std::reverse(chain.begin(), chain.end());
        p.chains.push_back(chain);
    }
    for (std::size_t k = 0; k < p.dofs.size(); ++k) {
        require(k == 0 || p.dofs[k - 1] < p.dofs[k], "dofs must be in order");
        std::vector<int> above;
        for (int v = p.dofs[k]; (v = model.dof_parent[static_cast<std::size_t>(v)]) >= 0;)
            if (index(v) >= 0) above.push_back(index(v));
        std::reverse(above.begin(), above.end());
        p.tree.add(above);
    }
    p.tree.finish();
    int last = -1;
    for (const Body& body : model.bodies) {  // joints that follow another one share its coordinate
        if (kinodyn::dofs(body.kind) != 1 || index(body.iv) < 0 || (model.mimic && body.iv <= last)) continue;
        last = body.iv;
        p.joints.push_back({index(body.iv), body.iq});
    }
}

void set_ground(RetargetProblem& p, const Indices& bodies, const Rows& locals, const Flags& above_ground) {
    p.ground_points.resize(p.model->bodies.size());
    p.ground_boxes.resize(p.model->bodies.size());
    for (std::size_t k = 0; k < bodies.size(); ++k)
        if (above_ground(k)) p.ground_points[static_cast<std::size_t>(bodies(k))].push_back(static_cast<int>(k));
    for (std::size_t i = 0; i < p.ground_points.size(); ++i)
        for (int axis = 0; axis < 3; ++axis) {
            double low = HUGE_VAL, high = -HUGE_VAL;
            for (const int k : p.ground_points[i])
                low = std::min(low, locals(k, axis)), high = std::max(high, locals(k, axis));
            p.ground_boxes[i].centre[axis] = 0.5 * (low + high), p.ground_boxes[i].half[axis] = 0.5 * (high - low);
        }
}

// All arrays are changed in place or read; frames are along the last axis, in a whole number of packs.
void retarget(const KernelHandle& kernel, Any robot, Any settings, long frames, const Indices& bodies,
              const Rows& locals, const Flags& above_ground, const Indices& dofs, Updated<2> q, Updated<2> z,
              Updated<2> u, const Flags& moving, Updated<1> damping, const Cube& target, const Rows& weight,
              const Rows& com_target, const Numbers& com_weight, const Blocks& row_gradient, const Rows& row_bound,
              const Rows& bounds, const Rows& weights, Updated<3> point, Updated<2> lowest, Updated<2> com) {
    RetargetProblem p;
    p.model = &robot_from(robot).model, p.rounded_model = &robot_from(robot).rounded_model();
    p.settings = record_from<RetargetSettings>("settings", settings);
    const std::size_t nq = static_cast<std::size_t>(p.model->nq), n = dofs.size(), points = bodies.size();
    const std::size_t padded = q.shape(1), rows = row_bound.shape(0);
    require(frames >= 1 && static_cast<std::size_t>(frames) <= padded && padded % retarget_block == 0,
            "frames must fill packs");
    require(q.shape(0) == nq && z.shape(0) == nq && u.shape(0) == nq && z.shape(1) == padded && u.shape(1) == padded,
            "q, z and u must be (nq, frames)");
    require(locals.shape(0) == points && locals.shape(1) == 3 && above_ground.size() == points &&
                target.shape(0) <= points && target.shape(1) == 3 && target.shape(2) == padded &&
                weight.shape(0) == target.shape(0) && weight.shape(1) == padded && point.shape(0) == target.shape(0) &&
                point.shape(1) == 3 && point.shape(2) == padded && lowest.shape(0) == p.model->bodies.size() &&
                lowest.shape(1) == padded,
            "points, targets and weights differ in number");
    require(com_target.shape(0) == 2 && com_target.shape(1) == padded && com_weight.size() == padded &&
                com.shape(0) == 3 && com.shape(1) == padded,
            "the CoM needs a target for each frame");
    require(row_gradient.shape(0) == padded / retarget_block && row_gradient.shape(1) == rows &&
                row_gradient.shape(2) == n && row_gradient.shape(3) == retarget_block && row_bound.shape(1) == padded,
            "rows must be (blocks, rows, dofs, frames of a block)");
    require(bounds.shape(0) == 4 && bounds.shape(1) == nq && weights.shape(0) == 2 && weights.shape(1) == n,
            "bounds must be (4, nq), weights (2, dofs)");
    require(damping.size() == padded && moving.size() == padded, "damping needs a number for each frame");
    check_dofs(*p.model, dofs);
    set_structure(p, dofs, bodies);
    set_ground(p, bodies, locals, above_ground);
    p.frames = frames, p.padded = static_cast<long>(padded);
    p.tracked = static_cast<int>(target.shape(0)), p.points = static_cast<int>(points), p.rows = static_cast<int>(rows);
    p.point_body = bodies.data(), p.point_local = locals.data();
    p.q = q.data(), p.z = z.data(), p.u = u.data(), p.damping = damping.data(), p.moving = moving.data();
    p.target = target.data(), p.weight = weight.data();
    p.com_target = com_target.data(), p.com_weight = com_weight.data();
    p.row_gradient = row_gradient.data(), p.row_bound = row_bound.data();
    p.lower = bounds.data(), p.upper = bounds.data() + nq, p.max_step = bounds.data() + 2 * nq;
    p.posture = bounds.data() + 3 * nq;
    p.posture_weight = weights.data(), p.proximity = weights.data() + n;
    p.point = point.data(), p.lowest = lowest.data(), p.com = com.data();
    run_problem(kernel, *p.model, p);
}

// `gradient` and `bound` are written at these frames.
void retarget_rows(const KernelHandle& kernel, Any robot, const DistanceQuery& query, double margin, double watched,
                   const InputArray<std::int64_t, 1>& frames, const Rows& q, const Rows& level, const Indices& number,
                   const Indices& dofs, Updated<4, float> gradient, Updated<2> bound) {
    ClearanceProblem p;
    p.model = &robot_from(robot).model, p.rounded_model = &robot_from(robot).rounded_model();
    p.query = &query;
    require(&query.robot() == p.model, "the query is that of another robot");
    const std::size_t pairs = query.pairs.size(), padded = q.shape(1), n = dofs.size();
    require(q.shape(0) == static_cast<std::size_t>(p.model->nq) && padded % retarget_block == 0,
            "q must be (nq, frames), in whole packs");
    require(number.size() == pairs && level.shape(1) == pairs && (level.shape(0) == 1 || level.shape(0) == padded),
            "levels must be (1 or frames, pairs), with a number for each pair");
    require(gradient.shape(0) == padded / retarget_block && gradient.shape(2) == n &&
                gradient.shape(3) == retarget_block && bound.shape(0) == gradient.shape(1) && bound.shape(1) == padded,
            "rows must be (blocks, rows, dofs, frames of a block)");
    for (std::size_t k = 0; k < pairs; ++k)
        require(number(k) >= 0 && static_cast<std::size_t>(number(k)) < pairs, "a number of a pair is out of range");
    for (std::size_t k = 0; k < frames.size(); ++k)
        require(frames(k) >= 0 && static_cast<std::size_t>(frames(k)) < padded, "a frame is out of range");
    check_dofs(*p.model, dofs);
    p.dof_index.assign(static_cast<std::size_t>(p.model->nv), -1);
    for (std::size_t k = 0; k < n; ++k) p.dof_index[static_cast<std::size_t>(dofs(k))] = static_cast<int>(k);
    p.coordinate.assign(n, -1);
    for (const Body& body : p.model->bodies) {
        if (kinodyn::dofs(body.kind) != 1) continue;
        const int k = p.dof_index[static_cast<std::size_t>(body.iv)];
        if (k >= 0) p.coordinate[static_cast<std::size_t>(k)] = body.iq;
    }
    p.margin = margin, p.watched = watched;
    p.count = static_cast<long>(frames.size()), p.padded = static_cast<long>(padded);
    p.rows = static_cast<int>(bound.shape(0));
    p.frames = frames.data(), p.q = q.data(), p.level = level.data(), p.number = number.data();
    p.level_stride = level.shape(0) == 1 ? 0 : static_cast<long>(pairs);
    p.gradient = gradient.data(), p.bound = bound.data();
    run_problem(kernel, *p.model, p);
}

// Positions (frames, bones, 3) of a skeleton. Channels of all bones, in order, have values, and cosines and sines of
// the values (frames, channels); `channels` (n, 2) lists their bones, and their axes: 0 to 2 for translations, which
// replace the offset, 3 to 5 for rotations.
nb::object bone_positions(const Indices& parents, const Rows& offsets, const InputArray<std::int32_t, 2>& channels,
                          const Rows& values, const Rows& cosines, const Rows& sines) {
    const std::size_t bones = parents.size(), frames = values.shape(0), n = channels.shape(0);
    require(offsets.shape(0) == bones && offsets.shape(1) == 3, "offsets must be (bones, 3)");
    require(channels.shape(1) == 2 && values.shape(1) == n, "channels must be (channels, 2)");
    for (const Rows* array : {&cosines, &sines})
        require(array->shape(0) == frames && array->shape(1) == n, "cosines and sines must be those of the values");
    for (std::size_t k = 0; k < bones; ++k)
        require(parents(k) >= -1 && parents(k) < static_cast<int>(k), "parents must come first");
    for (std::size_t c = 0; c < n; ++c)
        require(channels(c, 0) >= (c > 0 ? channels(c - 1, 0) : 0) && channels(c, 0) < static_cast<int>(bones) &&
                    channels(c, 1) >= 0 && channels(c, 1) < 6,
                "channels must be in the order of bones");
    std::vector<double> positions(frames * bones * 3), turned(bones * 9);
    for (std::size_t t = 0; t < frames; ++t) {
        double* const places = positions.data() + t * bones * 3;
        for (std::size_t k = 0, c = 0; k < bones; ++k) {
            double move[3] = {offsets(k, 0), offsets(k, 1), offsets(k, 2)};
            double* const R = turned.data() + 9 * k;  // columns one after the other
            const double* const above = parents(k) < 0 ? nullptr : turned.data() + 9 * parents(k);
            for (int i = 0; i < 9; ++i) R[i] = above ? above[i] : i % 4 == 0;
            for (; c < n && channels(c, 0) == static_cast<int>(k); ++c) {
                const int axis = channels(c, 1) % 3;
                if (channels(c, 1) < 3) {
                    move[axis] = values(t, c);
                    continue;
                }
                double *const a = R + 3 * ((axis + 1) % 3), *const b = R + 3 * ((axis + 2) % 3);
                for (int i = 0; i < 3; ++i) {
                    const double first = cosines(t, c) * a[i] + sines(t, c) * b[i];
                    b[i] = cosines(t, c) * b[i] - sines(t, c) * a[i], a[i] = first;
                }
            }
            for (int i = 0; i < 3; ++i)
                places[3 * k + i] = above ? places[3 * parents(k) + i] + above[i] * move[0] + above[3 + i] * move[1] +
                                                above[6 + i] * move[2]
                                          : move[i];
        }
    }
    return as_array(positions, {frames, bones, 3});
}

}  // namespace

void bind_retarget(nb::module_& m) {
    export_layouts<RetargetSettings>();
    add_constant("retarget_block", retarget_block);
    add_constant("retarget_unused", retarget_unused);
    auto* const kernel = new KernelHandle("retarget");  // lives as long as the function
    m.def("retarget", [kernel](Any robot, Any settings, long frames, const Indices& bodies, const Rows& locals,
                               const Flags& above_ground, const Indices& dofs, Updated<2> q, Updated<2> z, Updated<2> u,
                               const Flags& moving, Updated<1> damping, const Cube& target, const Rows& weight,
                               const Rows& com_target, const Numbers& com_weight, const Blocks& row_gradient,
                               const Rows& row_bound, const Rows& bounds, const Rows& weights, Updated<3> point,
                               Updated<2> lowest, Updated<2> com) {
        retarget(*kernel, robot, settings, frames, bodies, locals, above_ground, dofs, q, z, u, moving, damping, target,
                 weight, com_target, com_weight, row_gradient, row_bound, bounds, weights, point, lowest, com);
    });
    m.def("bone_positions", &bone_positions);
    auto* const rows = new KernelHandle("retarget_rows");
    m.def("retarget_rows",
          [rows](Any robot, const DistanceQuery& query, double margin, double watched,
                 const InputArray<std::int64_t, 1>& frames, const Rows& q, const Rows& level, const Indices& number,
                 const Indices& dofs, Updated<4, float> gradient, Updated<2> bound) {
              retarget_rows(*rows, robot, query, margin, watched, frames, q, level, number, dofs, gradient, bound);
          });
}

}  // namespace kinodyn
