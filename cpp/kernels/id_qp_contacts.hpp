// The active contacts of inverse dynamics: their rows J, the required accelerations J a, and their forces, which
// are variables of the quadratic program in a scaled unit.
#pragma once

#include "kernels/id_qp.hpp"
#include "limits/control_limits.hpp"

namespace kinodyn::KINODYN_TARGET {

class ContactSet {
  public:
    Matrix J;                 // one row for each constrained direction of an active contact
    double *desired, *scale;  // required accelerations J a; newtons or newton metres per unit of force
    long rows = 0, n_cones = 0;
    double unit = 1;             // of forces [N]
    ControlLimits::Cone* cones;  // of those that touch

    static long words(long n_contacts, long forces, long n) {
        return Memory::words(forces, n) + 3 * padded(forces) + padded(ControlLimits::Cone::words * n_contacts);
    }
    void take(Memory& memory, long n_contacts, long forces, long n) {
        J = memory.matrix(forces, n);
        for (double** x : {&desired, &scale, &desired_force_}) *x = memory.take(forces);
        cones = reinterpret_cast<ControlLimits::Cone*>(memory.take(ControlLimits::Cone::words * n_contacts));
    }

    // Finds the active ones; the constraints of all contacts begin at `constraint`.
    void place(const IdQpPlan& plan, const double* numbers, const RobotState& state, long constraint) {
        plan_ = &plan, numbers_ = numbers;
        unit = robot_weights * state.model.total_mass * 9.81;
        rows = n_cones = 0;
        for (int k = 0; k < plan.n_contacts; ++k) {
            const ContactEntry& contact = plan.contacts[k];
            if (is_active(k)) add(contact, fields_of(k), state, constraint);
            if (contact.touches) constraint += contact.cone_rows + 1;
        }
    }

    void bound(ControlLimits& limits) const {
        for (int k = 0, c = 0; k < plan_->n_contacts; ++k) {
            const ContactNumbers& numbers = *fields_of(k).numbers;
            if (is_active(k) && plan_->contacts[k].touches)
                limits.bound_force(cones[c++], numbers.minimum / unit, numbers.maximum / unit);
        }
    }

    // Adds the cost of deviations from the desired forces, the variables from `first` on; `weight` is per robot weight.
    void regularise(Objective& objective, long first, double weight) const {
        for (int k = 0, i = 0; k < plan_->n_contacts; ++k) {
            const double scaled = robot_weights * weight * fields_of(k).numbers->weight;
            for (int j = 0; is_active(k) && j < plan_->contacts[k].directions; ++j, ++i) {
                objective.scale[first + i] = scaled;
                objective.offset[first + i] = scaled * desired_force_[i] / scale[i];
            }
        }
    }

    // Forces in newtons, and errors of the required accelerations, of all contacts.
    void write(const RobotState& state, const double* x, double* out, double* residuals) const {
        const long nv = state.model.nv;
        long i = 0;
        for (int k = 0; k < plan_->n_contacts; ++k) {
            const ContactEntry& contact = plan_->contacts[k];
            const int count = contact.directions;
            for (int j = 0; j < count; ++j) out[j] = residuals[j] = 0;
            if (is_active(k)) {
                double own[6];
                for (int j = 0; j < count; ++j) {
                    own[j] = scale[i + j] * x[nv + i + j];
                    residuals[j] = dot(J[i + j], x, 0, padded(nv)) - desired[i + j];
                }
                PlacedContact(contact, *fields_of(k).numbers, state).write_force(own, out);
                i += count;
            }
            out += count, residuals += count;
        }
    }

  private:
    static constexpr double robot_weights =
        30;  // robot weights per unit of force: forces are then small numbers with little cost relative to motion

    ContactFields fields_of(int k) const { return contact_fields(plan_->contacts[k], numbers_); }
    bool is_active(int k) const { return fields_of(k).numbers->active != 0; }

    void add(const ContactEntry& contact, const ContactFields& fields, const RobotState& state, long constraint) {
        const ContactNumbers& numbers = *fields.numbers;
        const PlacedContact placed(contact, numbers, state);
        placed.write_rows(J, desired, rows);
        placed.write_desired_force(desired_force_ + rows);
        for (int d = 0, i = 0; d < 6; ++d)
            if (contact.mask >> d & 1) scale[rows + i++] = d < 3 ? unit : unit * numbers.length;
        if (contact.touches)
            cones[n_cones++] = {state.model.nv + rows, constraint, contact.cone_rows, contact.directions, fields.cone};
        rows += contact.directions;
    }

    const IdQpPlan* plan_ = nullptr;
    const double* numbers_ = nullptr;
    double* desired_force_;
};

}  // namespace kinodyn::KINODYN_TARGET
