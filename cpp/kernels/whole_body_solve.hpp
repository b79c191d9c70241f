// Steps of whole-body inverse kinematics until convergence, each within the distance for which the linear
// model is trusted: a lexicographic trust-region method.
//
// At convergence no level can improve by a small step without cost to the levels above. The linear model is not enough:
// where a level cannot be met, as for a hand whose target is out of reach, the directions along which its rows do
// not change are still not free, because its residual grows with the square of the motion along them. So a level that
// would improve by the linear model takes a small trial step, and the residuals of the levels above decide there.
#pragma once

#include "core/interrupts.hpp"
#include "kernels/whole_body_cuts.hpp"

namespace kinodyn::KINODYN_TARGET {

class WholeBodySolve {
  public:
    static long words(const Call& c) {
        return padded(block_size<SolveProgress>({c.as<WholeBodyPlan>().levels, c.model->nq})) + padded(c.model->nv);
    }

    WholeBodySolve(WholeBodyStep& step, StepCheck& check)
        : step_(step), check_(check), w(step.w), model_(step.model), levels_(step.plan.levels), q(step.q) {}

    // Resumes a paused solve, or starts a new one.
    void take(Memory& memory) {
        const SolveProgressSizes size = {levels_, model_.nq};
        above_ = memory.take(step_.n);
        const bool pauses = w.call.n_out == whole_body_io::n_outputs;
        double* numbers = pauses ? w.out[whole_body_io::Progress] : memory.take(block_size<SolveProgress>(size));
        const SolveProgress view = view_block<SolveProgress>(numbers, size);
        state = const_cast<SolveState*>(view.state);
        level = step_.levels = reinterpret_cast<LevelProgress*>(const_cast<double*>(view.levels));
        accepted = const_cast<double*>(view.accepted), tested = const_cast<double*>(view.tested);
        if (pauses) {
            const double* before = w.in[whole_body_io::ProgressBefore];
            for (long k = 0; k < w.call.out[whole_body_io::Progress].size; ++k) numbers[k] = before[k];
            if (state->steps > 0) return;
        }
        *state = {};
        state->trust = 1, state->level_fraction = 0.01;
        for (int k = 0; k < levels_; ++k) level[k] = {};
        copy(q, accepted);
        copy(q, tested);
    }

    void run() {
        // a pausing solve may return without a new step, and resumes with the same result as without the pause
        for (long k = 0; k < step_.n; ++k) w.out[whole_body_io::StepVelocity][k] = 0;
        const double* warm_start = step_.warm_start;
        for (long k = 0; k < w.call.out[whole_body_io::ActiveBounds].size; ++k)
            w.out[whole_body_io::ActiveBounds][k] = state->steps > 0 ? warm_start[k] : 0;
        step_.remember();
        if (state->done == 0) {
            do {
                poll_interrupt();
                iterate();
            } while (state->done == 0 && step_.settings.pausing == 0);
        } else {
            for (long k = 0; k < w.call.out[whole_body_io::Errors].size; ++k) w.out[whole_body_io::Errors][k] = 0;
        }
        *reinterpret_cast<WholeBodyInfo*>(w.out[whole_body_io::Info]) = {state->steps, state->iterations,
                                                                         state->at_rest, state->done};
    }

  private:
    static constexpr int check_interval = 50;         // steps between convergence tests
    static constexpr double optional_fraction = 0.4;  // fraction of the steps after which only required levels count

    void copy(const double* from, double* to) const {
        for (int k = 0; k < model_.nq; ++k) to[k] = from[k];
    }
    bool last_step() const { return state->steps >= step_.settings.max_steps; }

    // The options of the next step, given the number of steps so far.
    WholeBodyStep::Request request(double trust, int count) const {
        const bool late = step_.solving && state->steps > optional_fraction * step_.settings.max_steps;
        return {trust, late, count};
    }

    // One step. In a solve, each step is assessed at the start of the next one: the linear model that predicted it
    // is valid only for a short distance, in particular near stretched knees.
    void iterate() {
        if (state->probing != 0) return end_probe();
        if (state->tested_level != 0 && !can_improve()) return;
        state->steps += 1;
        step_.cuts.count = 0;
        step_.release_joints();
        const WholeBodyStep::Request whole = request(state->trust, levels_);
        step_.solve(whole);
        state->iterations += step_.hierarchy.iterations();
        if (state->moved != 0 && !as_predicted()) return reject();
        if (step_.checked_limits) state->iterations += check_.keep_limits(whole);
        if (state->moved != 0 && state->trust < 1) state->trust = state->trust < 0.5 ? 2 * state->trust : 1;
        state->largest = step_.report();
        accept();
        if (!step_.solving) {
            state->done = 1;
            return;
        }
        state->moved = 1;
        step_.warm_start = w.out[whole_body_io::ActiveBounds];
        if (check_.blocked() && state->trust > smallest_trust() && !last_step()) return shrink_trust();
        const bool at_rest = state->largest <= step_.settings.rest, last = last_step() || at_rest;
        if (!last && static_cast<long>(state->steps) % check_interval != 0) return;
        state->last = last;
        if (at_rest && state->trust == 1)
            state->at_rest = state->done = 1;
        else
            state->tested_level = 1;
    }

    // After a step that the limits allow no part of: they may allow a shorter one.
    void shrink_trust() {
        const double quarter = 0.25 * state->trust;
        state->trust = quarter > smallest_trust() ? quarter : smallest_trust();
        state->moved = 0;
    }

    // Returns to the start of the step and shrinks the trust region.
    void reject() {
        state->trust = 0.25 * state->largest / longest_step();
        state->moved = 0;
        state->level_fraction *= 0.98;
        copy(accepted, q);
        if (last_step()) state->tested_level = state->last = 1;
    }

    // Accepts the configuration, takes the next step and stores its predicted reduction.
    void accept() {
        for (int k = 0; k < levels_; ++k)
            level[k].before = level[k].now, level[k].predicted_before = level[k].predicted;
        copy(q, accepted);
        move_from(accepted);
    }

    // Integrates x from another configuration into q: not in place, because mimic joints share a coordinate with the
    // joint that they follow.
    void move_from(const double* start) {
        for (const Body& body : model_.bodies) integrate_joint(body, start, step_.hierarchy.x(), 1, q);
    }

    double longest_step() const { return step_.joints.velocity[0] * step_.settings.dt; }
    double smallest_trust() const { return small_step / longest_step(); }

    // Did the step from `accepted` achieve a tenth of the predicted reduction? Each level has a hundredth of the weight
    // of the one above, and even less as steps fail: a lower one may then cost a higher one the small error due to
    // curvature, which the next step corrects, without cycling. The loss of a level to those above counts at most
    // half of what they gain.
    bool as_predicted() const {
        double predicted = 0, achieved = 0, all = 0, count = 1;
        for (int k = 0; k < levels_; ++k) {
            const LevelProgress& p = level[k];
            if (k > 0 && level[k - 1].limit == 0) count *= state->level_fraction;
            const double gain = p.before - p.predicted_before;
            const double weight = gain < 0 && count * -gain > 0.5 * predicted ? 0.5 * predicted / -gain : count;
            predicted += weight * gain;
            achieved += weight * (p.before - p.now);
            all += weight * p.before;
        }
        return predicted > 1e-14 * all && achieved >= 0.1 * predicted;
    }

    // Looks for a level that a small step would improve, starting with the level `tested_level`. False if the
    // answer depends on a trial step, or if there is none and the solve is done.
    bool can_improve() {
        const double trust = smallest_trust();
        const WholeBodyStep::Request small = request(trust, levels_);
        step_.cuts.count = 0;  // they were for a longer step
        step_.release_joints();
        step_.solve(small);
        if (step_.checked_limits) check_.keep_limits(small);
        int k = static_cast<int>(state->tested_level) - 1;
        while (k < levels_ && level[k].above - level[k].predicted <= significant(level[k].now)) ++k;
        if (k == levels_) return conclude(true);
        if (k == 0) return conclude(false);  // no level is above it
        for (int j = 0; j <= k; ++j) level[j].tested = j < k ? level[j].above : level[j].now;
        step_.solve(request(trust, k));
        for (long i = 0; i < step_.n; ++i) above_[i] = step_.hierarchy.x()[i];
        step_.solve(request(trust, k + 1));
        for (long i = 0; i < step_.n; ++i) step_.hierarchy.x()[i] -= above_[i];
        copy(q, tested);
        move_from(tested);
        state->tested_level = k + 1, state->probing = 1;
        return false;
    }

    // At the end of the trial step, the level's contribution to the step of those above: does it improve, at no cost
    // to them? The residual of a level above is evaluated after those above it have corrected the curvature of the
    // step (feet that slipped are back). A level whose error doubles is ignored: the next step corrects it.
    void end_probe() {
        const int k = static_cast<int>(state->tested_level) - 1;
        step_.solve(request(smallest_trust(), k + 1));
        bool gains = level[k].tested - level[k].now > significant(level[k].tested);
        for (int j = 0; j < k; ++j) {
            const double error = level[j].tested, loss = level[j].above - error;
            gains &= loss <= curvature * small_step * small_step * __builtin_sqrt(error) + nothing || loss > error;
        }
        copy(tested, q);
        state->probing = 0, state->tested_level += 1;
        if (gains) conclude(false);
    }

    // Ends a test. Where steps have become too short to matter although a small one would improve a level, the solve
    // continues with that: rows of limits that were added for a longer step may have held it.
    bool conclude(bool rest) {
        state->tested_level = 0;
        state->at_rest = rest;
        state->done = rest || last_step();
        if (state->done == 0 && state->last != 0) state->trust = smallest_trust(), state->moved = 0;
        return state->done == 0;
    }

    // Significant changes of the squared error of a level over a small step: proportional to its length, and 1e-8 m or
    // rad; proportional to the square of its length where the first-order change vanishes.
    static constexpr double small_step = 1e-4, slope = 3e-5, nothing = 1e-16, curvature = 0.01;
    static double significant(double now) { return slope * small_step * __builtin_sqrt(now) + nothing; }

    WholeBodyStep& step_;
    StepCheck& check_;
    Work<double>& w;
    const Model& model_;
    const int levels_;
    double* q;
    SolveState* state = nullptr;
    LevelProgress* level = nullptr;
    double *accepted = nullptr, *tested = nullptr;
    double* above_ = nullptr;  // the step of the levels above the one being tested
};

}  // namespace kinodyn::KINODYN_TARGET
