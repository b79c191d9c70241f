// Distances between parts of the robot, and to obstacles, stay above a margin: e is the distance minus the margin, for
// the nearest spheres of each pair within the slow-down distance. The number of rows is fixed; unused rows have a
// zero Jacobian and an unlimited margin.
#pragma once

#include "limits/cutting_planes.hpp"
#include "limits/joint_bounds.hpp"
#include "limits/near_pairs.hpp"
#include "tasks/fields.hpp"
#include "tasks/robot_state.hpp"

namespace kinodyn::KINODYN_TARGET {

struct CollisionParameters {
    double margin, slow_down;  // [m] slow_down: beyond the margin
    double gain;               // [1/s] velocity level: maximum rate of decrease of distances, relative to e
    double query;              // address of the DistanceQuery
    double margins;            // [m] address of the margins of its pairs, at most `margin`

    static constexpr auto layout() {
        using P = CollisionParameters;
        return named("collision_parameters", field("margin", &P::margin), field("slow_down", &P::slow_down),
                     field("approach_gain", &P::gain), field("query", &P::query), field("margins", &P::margins));
    }
};

struct CollisionLimitFields : TaskFields {
    const CollisionParameters* parameters;

    static constexpr auto layout() {
        return named("collision_limit",
                     std::tuple_cat(task_parts(0, 0, 0), std::make_tuple(record(&CollisionLimitFields::parameters))));
    }
};

class CollisionLimit {
  public:
    using Fields = CollisionLimitFields;
    static constexpr int rows = 0, distances = -1;
    static constexpr int max_rows = 64;
    static constexpr double tolerance = 1e-9;  // [m] within the margin: distances that a step leaves as they were

    CollisionLimit(const RobotState& state, const TaskEntry& entry, const Fields& fields)
        : state_(state),
          parameters_(*fields.parameters),
          braking_(fields.switches->braking),
          rows_(entry.rows < max_rows ? entry.rows : max_rows),
          query_(query_of(fields)),
          distances_(query_, state.model, state.world) {
        if (fields.switches->enabled != 0) find_rows(entry);
    }

    int used() const { return used_; }
    int pair(int row) const { return near_[row].pair; }

    void error(double* e) const {
        const double* margins = margins_of(parameters_);
        for (int k = 0; k < rows_; ++k) e[k] = k < used_ ? near_[k].distance - margins[near_[k].pair] : no_limit;
    }

    // The pair of each row, -1 if there is none.
    void labels(double* out) const {
        for (int k = 0; k < rows_; ++k) out[k] = k < used_ ? near_[k].pair : -1;
    }

    // How far the margins e may decrease in a step; pairs within the margin must leave it.
    void slow_down(double* e, double dt) const {
        const double fraction = parameters_.gain * dt < 1 ? parameters_.gain * dt : 1;
        for (int k = 0; k < used_; ++k) {
            const double room = e[k] - reserve;
            e[k] = (room > 0 ? fraction * room : room) - tightening_[k] - expected_curvature(k, dt);
        }
    }

    // Calls put(row, v index, derivative) for the nonzeros of the Jacobian: how motion reduces the margins.
    template <class Put>
    void entries(Put&& put) const {
        for (int k = 0; k < used_; ++k)
            distances_.for_columns(near_[k], distances_.witness_points(near_[k]),
                                   [&](int iv, double d) { put(k, iv, -d); });
    }
    struct Column {
        int row;
        double value;
        double operator[](int k) const { return k == row ? value : 0; }
    };
    template <class Put>
    void columns(Put&& put) const {
        entries([&](int k, int iv, double value) { put(iv, Column{k, value}); });
    }

    void motion(double* rate, double* bias) const {
        for (int k = 0; k < rows_; ++k) {
            const Rates rates = k < used_ ? rates_of(near_[k], *state_.motion) : Rates{0, 0};
            rate[k] = rates.rate, bias[k] = rates.bias;
        }
    }

    // Adds to `cuts` the pairs that a step has brought within the margin, or, if they were within it before, closer
    // than the worst pair was at the beginning of the motion: pairs that cannot leave the margin must not hold the
    // robot. `world` is the end of the step and, after place_before(), its start. True if there is something to add.
    template <class PlaceBefore>
    static bool add_cuts(const Model& model, const TaskEntry& entry, const Fields& fields, const World<double>& world,
                         PlaceBefore&& place_before, CuttingPlanes& cuts) {
        if (fields.switches->enabled == 0) return false;
        const DistanceQuery& query = query_of(fields);
        const double *margins = margins_of(*fields.parameters), margin = fields.parameters->margin;
        NearPairs pairs(model, cuts.memory_of(entry), entry.memory);
        Proximity found[CuttingPlanes::max_cuts];
        int n = 0;
        {
            const SphereDistances after(query, model, world);
            pairs.each_within_nearby(after, margin, [&](const Proximity& near) {
                if (is_within(after, near, margins) && n < CuttingPlanes::max_cuts) found[n++] = near;
            });
        }
        if (n == 0) return false;
        place_before();
        const SphereDistances before(query, model, world);
        double worst = pairs.floor();
        pairs.each_within_nearby(before, margin, [&](const Proximity& near) {
            if (is_within(before, near, margins) && near.distance < worst) worst = near.distance;
        });
        bool any = false;
        for (int k = 0; k < n; ++k) {
            const double allowed = margins[found[k].pair];
            const bool was_within = before.distance(found[k]) < allowed;
            const double least = was_within && worst < allowed ? worst : allowed;
            if (found[k].distance >= (was_within ? least - tolerance : least)) continue;
            Proximity nearest;
            before.improve(found[k].pair, nearest);
            const bool had_row = nearest.first == found[k].first && nearest.second == found[k].second;
            any = true;
            cuts.add(&entry, found[k], had_row, least - found[k].distance + 0.1 * reserve);
        }
        return any;
    }

    // Calls f(v index) for the joints that change the distance of two spheres. `world` is where they are.
    template <class F>
    static void each_joint(const Model& model, const Fields& fields, const World<double>& world,
                           const Proximity& spheres, F&& f) {
        const SphereDistances at(query_of(fields), model, world);
        at.for_columns(spheres, at.witness_points(spheres), [&](int iv, double) { f(iv); });
    }

  private:
    static constexpr double reserve =
        2e-5;  // [m] added to the margin where motion stops, for errors of the linear model
    static constexpr Spatial<double> at_rest = {{0, 0, 0}, {0, 0, 0}};

    static const DistanceQuery& query_of(const Fields& fields) {
        return *reinterpret_cast<const DistanceQuery*>(static_cast<std::uintptr_t>(fields.parameters->query));
    }

    static const double* margins_of(const CollisionParameters& parameters) {
        return reinterpret_cast<const double*>(static_cast<std::uintptr_t>(parameters.margins));
    }

    static bool is_within(const SphereDistances& at, const Proximity& near, const double* margins) {
        return near.distance < margins[near.pair] && at.first_body(near) != at.second_body(near);
    }

    void find_rows(const TaskEntry& entry);  // in kernels/collision_limit.cpp, for all kernels with limits

    double least_within() const {
        double least = parameters_.margin;
        for (int k = 0; k < used_; ++k)
            if (is_within(distances_, near_[k], margins_of(parameters_)) && near_[k].distance < least)
                least = near_[k].distance;
        return least;
    }

    // Adds rows for those nearby spheres of a pair that have the least braking distance left. One pair
    // has several rows here: spheres other than the nearest may be about to become the nearest.
    void add_critical(int pair, double bound) {
        constexpr int most = 4;
        Proximity best[most];
        double rooms[most];
        int n = 0;
        distances_.each_sphere_within(pair, bound, [&](const Proximity& near) {
            if (distances_.first_body(near) == distances_.second_body(near)) return;
            const double room = room_to_brake(near);
            if (n == most && rooms[n - 1] <= room) return;
            int k = n < most ? n++ : n - 1;
            for (; k > 0 && rooms[k - 1] > room; --k) best[k] = best[k - 1], rooms[k] = rooms[k - 1];
            best[k] = near, rooms[k] = room;
        });
        for (int k = 0; k < n; ++k) add(best[k], 0);
    }
    double room_to_brake(const Proximity& near) const {
        constexpr double ahead = 0.02;  // [s]
        const double speed = -rates_of(near, *state_.motion).rate;
        return near.distance - (speed > 0 ? speed * ahead + 0.5 * speed * speed / braking_ : 0);
    }

    // Adds a row; if there is no room, in place of the farthest.
    void add(const Proximity& near, double tightening) {
        int place = used_;
        if (used_ == rows_) {
            place = 0;
            for (int k = 1; k < used_; ++k)
                if (near_[k].distance > near_[place].distance) place = k;
            if (near.distance >= near_[place].distance) return;
        } else {
            ++used_;
        }
        near_[place] = near, tightening_[place] = tightening;
    }

    // Upper bound of the distance that the groups of a pair approach each other while braking.
    double stopping_distance(int pair) const {
        const auto [a, b] = distances_.bounding_spheres(pair);
        const Spatial<double> va = velocity(a.body), vb = velocity(b.body);
        const Point relative = va.lin + cross(va.ang, a.centre) - vb.lin - cross(vb.ang, b.centre);
        const double speed = length(relative) + length(va.ang) * a.radius + length(vb.ang) * b.radius;
        return 0.5 * speed * speed / braking_;
    }
    Spatial<double> velocity(int body) const { return body < 0 ? at_rest : state_.motion->v[body]; }

    // First and second derivative of a distance, the second at joint accelerations of zero.
    struct Rates {
        double rate, bias;
    };
    Rates rates_of(const Proximity& near, const Motion<double>& motion) const {
        const Point n = distances_.witness_points(near).normal;
        PointMotion a = of_point(motion, distances_.first_body(near), distances_.first_centre(near)), b = {};
        if (near.second >= 0) b = of_point(motion, distances_.second_body(near), distances_.second_centre(near));
        return {dot(n, a.v - b.v), dot(n, a.bias - b.bias) + distances_.curvature(near, a.v, b.v)};
    }
    struct PointMotion {
        Point v, bias;
    };
    static PointMotion of_point(const Motion<double>& motion, int body, const Point& c) {
        if (body < 0) return {};
        const Spatial<double>&v = motion.v[body], &a = motion.bias[body];
        const Point speed = v.lin + cross(v.ang, c);
        return {speed, a.lin + cross(a.ang, c) + cross(v.ang, speed)};
    }

    // Reduction of a margin by curvature if the motion continues as in the previous step.
    double expected_curvature(int k, double dt) const {
        if (!state_.step_motion) return 0;
        const double change = 0.5 * dt * dt * rates_of(near_[k], *state_.step_motion).bias;
        return change < 0 ? -change : 0;
    }

    const RobotState& state_;
    const CollisionParameters& parameters_;
    double braking_;
    int rows_, used_ = 0;
    const DistanceQuery& query_;
    SphereDistances distances_;
    Proximity near_[max_rows];
    double tightening_[max_rows];
};

}  // namespace kinodyn::KINODYN_TARGET
