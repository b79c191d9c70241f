// Steps of whole-body inverse kinematics until the robot is at rest, each within the distance for which the linear
// model is trusted: a lexicographic trust-region method.
//
// At rest no level can gain by a small step that costs the levels above it nothing. The linear model alone cannot tell:
// where a level cannot be met, as for a hand that reaches for what is too far, the directions along which its rows do
// not change are still not free, because what it misses grows with the square of the motion along them. So a level that
// would gain by the linear model takes a small step for trial, and what the levels above it miss there decides.
#pragma once

#include "kernels/whole_body_cuts.hpp"

namespace kinodyn::KINODYN_TARGET {

class WholeBodySolve {
  public:
    static long words(const Call& c) {
        return padded(block_size<SolveProgress>({c.as<WholeBodyPlan>().levels, c.model->nq})) + padded(c.model->nv);
    }

    WholeBodySolve(WholeBodyStep& step, StepCheck& check)
        : step_(step), check_(check), w(step.w), model_(step.model), levels_(step.plan.levels), q(step.q) {}

    // Takes up a solve that paused, or starts anew.
    void take(Memory& memory) {
        const SolveProgressSizes size = {levels_, model_.nq};
        above_ = memory.take(step_.n);
        const bool pauses = w.call.n_out == whole_body_io::n_outputs;
        double* numbers = pauses ? w.out[whole_body_io::Progress] : memory.take(block_size<SolveProgress>(size));
        const SolveProgress view = view_block<SolveProgress>(numbers, size);
        state = const_cast<SolveState*>(view.state);
        level = step_.levels = reinterpret_cast<LevelProgress*>(const_cast<double*>(view.levels));
        accepted = const_cast<double*>(view.accepted), judged = const_cast<double*>(view.judged);
        if (pauses) {
            const double* before = w.in[whole_body_io::ProgressBefore];
            for (long k = 0; k < w.call.out[whole_body_io::Progress].size; ++k) numbers[k] = before[k];
            if (state->steps > 0) return;
        }
        *state = {};
        state->trust = 1, state->level_share = 0.01;
        for (int k = 0; k < levels_; ++k) level[k] = {};
        copy(q, accepted);
        copy(q, judged);
    }

    void run() {
        // a solve that pauses may return without a new step, and goes on as if it had not paused
        for (long k = 0; k < step_.n; ++k) w.out[whole_body_io::StepVelocity][k] = 0;
        const double* warm_start = step_.warm_start;
        for (long k = 0; k < w.call.out[whole_body_io::ActiveBounds].size; ++k)
            w.out[whole_body_io::ActiveBounds][k] = state->steps > 0 ? warm_start[k] : 0;
        if (state->done == 0) {
            do iterate();
            while (state->done == 0 && step_.settings.pausing == 0);
        } else {
            for (long k = 0; k < w.call.out[whole_body_io::Errors].size; ++k) w.out[whole_body_io::Errors][k] = 0;
        }
        *reinterpret_cast<WholeBodyInfo*>(w.out[whole_body_io::Info]) = {state->steps, state->iterations,
                                                                         state->at_rest, state->done};
    }

  private:
    static constexpr int check_interval = 50;      // steps between tests whether the robot is at rest
    static constexpr double optional_share = 0.4;  // share of the steps after which only required levels count

    void copy(const double* from, double* to) const {
        for (int k = 0; k < model_.nq; ++k) to[k] = from[k];
    }
    bool last_step() const { return state->steps >= step_.settings.max_steps; }

    // The step to take, after so many.
    WholeBodyStep::Request request(double trust, int count) const {
        const bool late = step_.solving && state->steps > optional_share * step_.settings.max_steps;
        return {trust, late, count};
    }

    // One step. In a solve each step is judged where the next one begins: the linear model by which it was planned
    // holds for a short distance only, near stretched knees above all.
    void iterate() {
        if (state->probing != 0) return end_probe();
        if (state->judging != 0 && !goes_on()) return;
        state->steps += 1;
        step_.cuts.count = 0;
        const WholeBodyStep::Request whole = request(state->trust, levels_);
        step_.solve(whole);
        state->iterations += step_.hierarchy.iterations();
        if (step_.checked_limits) state->iterations += check_.keep_limits(whole);
        if (state->moved != 0 && !as_predicted()) return reject();
        if (state->moved != 0 && state->trust < 1) state->trust = state->trust < 0.5 ? 2 * state->trust : 1;
        state->largest = step_.report();
        accept();
        if (!step_.solving) {
            state->done = 1;
            return;
        }
        state->moved = 1;
        step_.warm_start = w.out[whole_body_io::ActiveBounds];
        const bool hardly_moves = state->largest <= step_.settings.rest, last = last_step() || hardly_moves;
        if (!last && static_cast<long>(state->steps) % check_interval != 0) return;
        state->last = last;
        if (hardly_moves && state->trust == 1)
            state->at_rest = state->done = 1;
        else
            state->judging = 1;
    }

    // Returns to where the step began, and trusts shorter ones only.
    void reject() {
        state->trust = 0.25 * state->largest / longest_step();
        state->moved = 0;
        state->level_share *= 0.98;
        copy(accepted, q);
        if (last_step()) state->judging = state->last = 1;
    }

    // Moves on, and notes what the step is predicted to do.
    void accept() {
        for (int k = 0; k < levels_; ++k)
            level[k].before = level[k].now, level[k].predicted_before = level[k].predicted;
        copy(q, accepted);
        move_from(accepted);
    }

    // q becomes where x leads to from another place: not in place, because mimic joints share a coordinate with the
    // joint that they follow.
    void move_from(const double* start) {
        for (const Body& body : model_.bodies) integrate_joint(body, start, step_.hierarchy.x(), 1, q);
    }

    double longest_step() const { return step_.joints.velocity[0] * step_.settings.dt; }

    // Did the step from `accepted` do a tenth of what was predicted? Levels count a hundred times less than the one
    // above, and less still as steps fail: so a lower one may cost a higher one the little that curvature spoils
    // and the next step makes good, but cannot lead in circles. What a level loses to those above counts at most
    // half of what they gain.
    bool as_predicted() const {
        double predicted = 0, achieved = 0, all = 0, count = 1;
        for (int k = 0; k < levels_; ++k) {
            const LevelProgress& p = level[k];
            if (k > 0 && level[k - 1].limit == 0) count *= state->level_share;
            const double gain = p.before - p.predicted_before;
            const double weight = gain < 0 && count * -gain > 0.5 * predicted ? 0.5 * predicted / -gain : count;
            predicted += weight * gain;
            achieved += weight * (p.before - p.now);
            all += weight * p.before;
        }
        return predicted > 1e-14 * all && achieved >= 0.1 * predicted;
    }

    // Looks for a level that would gain by a small step, from the level at which `judging` stands on. False if the
    // answer has to wait for a trial step, or if there is none and the solve is done.
    bool goes_on() {
        const double trust = small_step / longest_step();
        step_.solve(request(trust, levels_));
        int k = static_cast<int>(state->judging) - 1;
        while (k < levels_ && level[k].above - level[k].predicted <= significant(level[k].now)) ++k;
        if (k == levels_) return conclude(true);
        if (k == 0) return conclude(false);  // there is nothing above it
        for (int j = 0; j <= k; ++j) level[j].judged = j < k ? level[j].above : level[j].now;
        step_.solve(request(trust, k));
        for (long i = 0; i < step_.n; ++i) above_[i] = step_.hierarchy.x()[i];
        step_.solve(request(trust, k + 1));
        for (long i = 0; i < step_.n; ++i) step_.hierarchy.x()[i] -= above_[i];
        copy(q, judged);
        move_from(judged);
        state->judging = k + 1, state->probing = 1;
        return false;
    }

    // At the end of the trial step, which is what the level adds to the step of those above: does it gain, at no cost
    // of theirs? What a level above misses is what it misses once those above it have made good the curvature of the
    // step (feet that slipped are back). One whose error doubles does not count: the next step makes that good.
    void end_probe() {
        const int k = static_cast<int>(state->judging) - 1;
        step_.solve(request(small_step / longest_step(), k + 1));
        bool gains = level[k].judged - level[k].now > significant(level[k].judged);
        for (int j = 0; j < k; ++j) {
            const double error = level[j].judged, loss = level[j].above - error;
            gains &= loss <= curvature * small_step * small_step * __builtin_sqrt(error) + nothing || loss > error;
        }
        copy(judged, q);
        state->probing = 0, state->judging += 1;
        if (gains) conclude(false);
    }

    bool conclude(bool rest) {
        state->judging = 0;
        state->at_rest = rest;
        state->done = rest || state->last != 0;
        return state->done == 0;
    }

    // Changes of the squared error of a level that count, over a small step: in proportion to its length, and 1e-8 m or
    // rad; in proportion to the square of its length where that is all there can be.
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
    double *accepted = nullptr, *judged = nullptr;
    double* above_ = nullptr;  // the step of the levels above the one that is judged
};

}  // namespace kinodyn::KINODYN_TARGET
