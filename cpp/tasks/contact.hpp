// Contacts and loops: the directions in which a pose fixed in a frame (its `place`) is constrained, and the forces that
// act along them.
//
// Forces act on the frame at its place, in axes of their own: for a contact, z is the ground normal and x as close
// to the x axis of the place as possible; for a loop, those of the place in the other frame.
#pragma once

#include "tasks/robot_state.hpp"

namespace kinodyn {

struct ContactEntry {
    std::int32_t frame, other;  // other -1: the world
    std::int32_t mask;          // bit k: direction k of x y z rx ry rz is constrained
    std::int32_t directions;    // number of constrained directions
    std::int32_t cone_rows;
    std::int32_t touches;  // a contact with the ground, not a loop
    std::int32_t offset;   // of its block among the numbers of all contacts

    static constexpr auto layout() {
        using C = ContactEntry;
        return named("contact_entry", field("frame", &C::frame), field("other", &C::other), field("mask", &C::mask),
                     field("directions", &C::directions), field("cone_rows", &C::cone_rows),
                     field("touches", &C::touches), field("offset", &C::offset));
    }
};

namespace KINODYN_TARGET {

struct ContactNumbers {
    double active;
    double place_p[3], place_R[9];    // in the frame
    double target_p[3], target_R[9];  // where the place is to stay, in the other frame
    double stiffness, damping;        // [1/s^2], [1/s] of deviations from there
    double normal[3];                 // in the world
    double minimum, maximum;          // of the normal force [N]
    double weight;                    // of its force in the last level
    double length;                    // [m] that makes moments comparable with forces
    double desired_force[6];          // wrench in world axes, about `point`
    double point[3];                  // in the frame

    static constexpr auto layout() {
        using C = ContactNumbers;
        return named("contact_numbers", field("active", &C::active), field("place_p", &C::place_p),
                     field<3, 3>("place_R", &C::place_R), field("target_p", &C::target_p),
                     field<3, 3>("target_R", &C::target_R), field("stiffness", &C::stiffness),
                     field("damping", &C::damping), field("normal", &C::normal), field("minimum", &C::minimum),
                     field("maximum", &C::maximum), field("weight", &C::weight), field("length", &C::length),
                     field("desired_force", &C::desired_force), field("point", &C::point));
    }
};

struct ContactSizes {
    std::int32_t cone_rows, directions;

    static constexpr auto layout() {
        using C = ContactSizes;
        return named("contact_sizes", field("cone_rows", &C::cone_rows), field("directions", &C::directions));
    }
};

struct ContactFields {
    const ContactNumbers* numbers;
    const double* cone;  // cone times force <= 0, over the constrained directions

    using Sizes = ContactSizes;
    static constexpr auto layout() {
        using C = ContactFields;
        return named("contact", record(&C::numbers), array("cone", &C::cone, &Sizes::cone_rows, &Sizes::directions));
    }
};

inline ContactFields contact_fields(const ContactEntry& entry, const double* all) {
    return view_block<ContactFields>(all + entry.offset, {entry.cone_rows, entry.directions});
}

// One contact or loop at one state.
class PlacedContact {
  public:
    PlacedContact(const ContactEntry& entry, const ContactNumbers& numbers, const RobotState& state)
        : entry_(entry),
          numbers_(numbers),
          state_(state),
          A_(place(entry.frame, numbers.place_p, numbers.place_R)),
          B_(place(entry.other, numbers.target_p, numbers.target_R)) {
        axes_ = entry.touches ? ground_axes(vec(numbers.normal)) : columns_of(B_.R);
        arm_ = A_.p - state.frames.place(entry.frame, numbers.point).p;
    }

    // Writes its rows, starting at row `first` of J, and the required accelerations J a.
    void write_rows(const Matrix& J, double* desired, long first) const {
        Spatial<double> rate, drift;
        state_.relative_motion(entry_.frame, entry_.other, A_.p, rate, drift);
        const Mat3<double> back = {B_.R.column(0), B_.R.column(1), B_.R.column(2)};
        const Spatial<double> error = {A_.p - B_.p, B_.R * logarithm(quaternion_of(back * A_.R))};
        double* rows[6];
        long row = first;
        for (int k = 0; k < 6; ++k) {
            rows[k] = nullptr;
            if (!keeps(k)) continue;
            desired[row] = -along(k, drift) - numbers_.stiffness * along(k, error) - numbers_.damping * along(k, rate);
            rows[k] = J[row++];
            clear_row(rows[k], J.stride);
        }
        state_.frames.for_relative_columns(entry_.frame, entry_.other, A_.p, [&](int iv, const Spatial<double>& s) {
            for (int k = 0; k < 6; ++k)
                if (rows[k]) rows[k][iv] += along(k, s);
        });
    }

    // The desired wrench, as forces along the constrained directions.
    void write_desired_force(double* force) const {
        const V f = vec(numbers_.desired_force), m = vec(numbers_.desired_force + 3) - cross(arm_, f);
        for (int k = 0, i = 0; k < 6; ++k)
            if (keeps(k)) force[i++] = entry_.touches ? along(k, {f, m}) : 0;
    }

    // Forces along the constrained directions in the convention of users: for a contact, in world axes about its point.
    void write_force(const double* force, double* out) const {
        if (!entry_.touches) {
            for (int i = 0; i < entry_.directions; ++i) out[i] = force[i];
            return;
        }
        Spatial<double> wrench = {{0, 0, 0}, {0, 0, 0}};
        for (int k = 0, i = 0; k < 6; ++k)
            if (keeps(k)) (k < 3 ? wrench.lin : wrench.ang) += force[i++] * axes_[k % 3];
        wrench.ang += cross(arm_, wrench.lin);
        for (int i = 0; i < entry_.directions; ++i) out[i] = component(wrench, i);
    }

  private:
    bool keeps(int direction) const { return entry_.mask >> direction & 1; }
    double along(int k, const Spatial<double>& s) const { return dot(axes_[k % 3], k < 3 ? s.lin : s.ang); }

    Placement<double> place(int frame, const double* p, const double* R) const {
        const Placement<double> f = state_.frames.place(frame, p);
        Placement<double> result = {f.R * mat(R), f.p};
        if (frame < 0) result.p += vec(p);
        return result;
    }
    struct Axes {
        V u[3];
        const V& operator[](int k) const { return u[k]; }
    };
    static Axes columns_of(const Mat3<double>& R) { return {{R.column(0), R.column(1), R.column(2)}}; }
    Axes ground_axes(const V& z) const {
        V x = A_.R.column(0);
        if (fabs(dot(x, z)) > 0.9) x = A_.R.column(1);
        x -= dot(x, z) * z;
        x = (1 / __builtin_sqrt(dot(x, x))) * x;
        return {{x, cross(z, x), z}};
    }

    const ContactEntry& entry_;
    const ContactNumbers& numbers_;
    const RobotState& state_;
    Placement<double> A_, B_;
    V arm_;  // from the point to the place, where forces act
    Axes axes_;
};

}  // namespace KINODYN_TARGET
}  // namespace kinodyn
