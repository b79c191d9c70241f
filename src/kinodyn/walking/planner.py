"""The planner at run time: from commands and measurements to references for the whole body, step after step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array, MatrixLike
from kinodyn.balance.polygon import nearest
from kinodyn.checks import as_pose, numbers
from kinodyn.errors import InputError
from kinodyn.walking.adaptation import StepChange, adapt_step
from kinodyn.walking.biped import Biped, other
from kinodyn.walking.footsteps import (
    Footstep,
    body_beside,
    closing_step,
    leading_side,
    next_step,
    standing_feet,
    walk_to,
    wrap,
)
from kinodyn.walking.ground import Ground
from kinodyn.walking.mpc import MPC, Plan
from kinodyn.walking.phases import Phase, Timing
from kinodyn.walking.reference import FootReference, Reference
from kinodyn.walking.schedule import Schedule
from kinodyn.walking.steplimits import StepLimits
from kinodyn.walking.swing import Swing

AHEAD = 5  # footsteps that are planned beyond the one in the air
RAMP = 0.5  # share of the fastest by which the velocity changes at most from one step to the next
SNAP = 0.2  # share of that change below which the rest is taken at once: no tiny steps
QUICKEST, SLOWEST = 0.26, 1.4  # shares of a single support that a changed step may last
NEAR = 0.01  # [m, rad] within which feet are at a goal
CLOSED = 0.02  # [m, rad] within which feet are beside each other
HURRY = 0.1  # share of a double support that one lasts when it does not help
LOCKED = 0.06  # share of a single support before landing during which the step is no longer changed


class Planner:
    """Walk by command: a small state machine around schedule, swing foot and predictive control.

    `command` says where to go, `update` (20 to 50 times a second) takes measurements, moves footsteps if they cannot
    catch the robot any more, and plans the pendulum; `reference` (at every control tick) tells what to do now.
    `touchdown` and `delay` tell it when a foot lands before or after its time.

    Parameters
    ----------
    body
        The biped.
    limits, timing
        Derived from it unless given.
    margin
        How far [m] the zero moment point is kept from the edges of the feet.
    clearance
        How high [m] feet are lifted; by default 5 % of the leg.
    start
        Both feet at the beginning; the stance unless given.
    time
        When it begins [s].
    adapt
        Whether steps move and change their time after a push.
    """

    def __init__(
        self,
        body: Biped,
        *,
        limits: StepLimits | None = None,
        timing: Timing | None = None,
        margin: float | None = None,
        clearance: float | None = None,
        start: dict[str, Footstep] | None = None,
        time: float = 0.0,
        mpc: MPC | None = None,
        adapt: bool = True,
    ) -> None:
        self.body = body
        self.limits = limits or StepLimits.of(body)
        self.timing = timing or Timing.of(body)
        self.clearance = 0.05 * body.leg if clearance is None else float(clearance)
        self.mpc = mpc or MPC()
        self.adapt = adapt
        feet = dict(start or standing_feet(body))
        self.schedule = Schedule(body, feet, (), self.timing, time=time, margin=margin)
        self.velocity = np.zeros(3)
        self.walking = False
        self.change: StepChange | None = None
        self._swings: dict[int, Swing] = {}
        self._due = np.inf  # when the foot in the air was to land [s]
        self._paces: dict[int, Array] = {}  # velocity that each step was planned for
        self._ramp = RAMP * self.limits.largest(self.timing.step)
        self._renew = False
        self._goal: tuple[Array, StepLimits] | None = None
        self._ground: Ground | None = None
        self._path = self.schedule.own
        self.plan: Plan | None = None
        self.touch = float(min(body.left.size)) / 16.0  # room [m] below which steps are changed
        self.room = np.inf

    def command(self, velocity: ArrayLike) -> None:
        """Walk at a velocity (3,): forward, sideways [m/s], turn [rad/s]; zero marches on the spot.

        A command beyond the limits raises InputError with the limit and changes nothing.
        """
        self.velocity = np.array(self.limits.check(velocity, self.timing.step))
        self.walking = self._renew = True
        self._goal = None

    def go_to(self, goal: ArrayLike, *, speed: float) -> None:
        """Walk to x, y [m] and heading [rad] of the middle between the soles, and stand there.

        A goal too far away or a speed beyond the limits raises InputError with the limit and changes nothing.
        """
        self._goal = self.check_goal(goal, speed)
        self.walking = self._renew = True

    def check_goal(self, goal: ArrayLike, speed: float) -> tuple[Array, StepLimits]:
        """Return a goal (3,) and the limits of steps on the way there, or raise InputError."""
        place = numbers("goal", goal, 3)
        if not isinstance(speed, int | float | np.number) or not speed > 0:
            raise InputError(f"the speed towards a goal must be above 0, got {speed!r}")
        self.limits.check((speed, 0.0, 0.0), self.timing.step)
        limits = replace(self.limits, forward=float(speed) * self.timing.step)
        walk_to(self.body, place, limits=limits, share=1.0, tolerance=NEAR)
        return place, limits

    def stop(self) -> None:
        """Slow down within a step or two, bring the feet together, and stand."""
        self.walking, self._renew = False, True
        self._goal = None

    def stopping_place(self, t: float) -> tuple[float, float, float]:
        """Tell where x, y [m] and heading [rad] the middle between the ankles would stand if it stopped now."""
        phase = self.schedule.at(t)
        last = phase.swing or list(phase.feet.values())[-1]
        return body_beside(last, self.limits.width)

    def standing(self, t: float) -> bool:
        """Tell whether both feet stand and no step is planned."""
        return self.schedule.at(t).kind == "stand" and not self.walking

    def update(
        self, t: float, com: ArrayLike | None = None, velocity: ArrayLike | None = None, zmp: ArrayLike | None = None
    ) -> Plan:
        """Plan from time t [s] on, from the mass as measured (2,) or (3,), or as planned where it is not given."""
        own = self._path.at(t)
        c = own.com if com is None else numbers("com", np.asarray(com)[..., :2], 2)
        v = own.velocity if velocity is None else numbers("velocity", np.asarray(velocity)[..., :2], 2)
        phase = self.schedule.at(t)
        if self._renew or (self.walking and self.schedule.count - phase.step < AHEAD - 1):
            self._rebuild(t, phase)
        dcm = c + v / self.body.omega
        self.room = self.schedule.catches(t, dcm)
        if self.adapt:
            self._adapt(t, dcm)
        self.plan = self.mpc(self.schedule, t, c, v, zmp=zmp)
        self._path = self.plan.path
        return self.plan

    def observe(self, ground: Ground) -> None:
        """Take note of the ground as it is felt.

        Swing feet then start where they stood, and land on the ground as it goes on from the other foot; the mass keeps
        its height above it. Without, the ground is as planned: level.
        """
        self._ground = ground

    def reference(self, t: float) -> Reference:
        """Tell what to do at time t [s]."""
        phase = self.schedule.at(t)
        feet = {side: self._foot(t, side, phase) for side in ("left", "right")}
        x, y, vx, vy, ax, ay, dx, dy, zx, zy = self._path.floats(t)
        left, right = feet["left"], feet["right"]
        rate = 0.5 * (left.velocity[5] + right.velocity[5])
        acceleration = 0.5 * (left.acceleration[5] + right.acceleration[5])
        return Reference(
            np.array([x, y, self.body.com_height + self._below(x, y, phase)]),
            np.array([vx, vy, 0.0]),
            np.array([ax, ay, 0.0]),
            np.array([dx, dy]),
            np.array([zx, zy]),
            feet,
            self._heading(feet, phase),
            float(rate),
            float(acceleration),
            phase,
            phase.end - t,
        )

    def touchdown(self, t: float, side: str, T_world_sole: MatrixLike | None = None) -> bool:
        """Take note that a foot in the air has landed at time t, before its time, where it is or at a measured pose.

        Returns False, and changes nothing, if that foot is not in the air.
        """
        phase = self.schedule.at(t)
        if phase.swing is None or phase.swing.side != side or t <= phase.start:
            return False
        swing = self._swing(phase)
        T = swing(t) if T_world_sole is None else as_pose(T_world_sole, "T_world_sole")
        yaw = _yaw_near(T, phase.swing.yaw)
        step = Footstep(side, float(T[0, 3]), float(T[1, 3]), yaw, float(T[2, 3]))
        # both feet stand the longer after an early landing, and the shorter after a late one: steps keep their pace
        usual = self.timing.double
        self._rebuild(t, phase, step, t, double=min(max(usual + self._due - t, 0.5 * usual), 2.0 * usual))
        return True

    def delay(self, t: float, seconds: float, lower: float = 0.0, sink: float = 0.0) -> bool:
        """Let the foot in the air land later, where it has found no ground; False if there is none.

        It then lands lower [m], and is still going down with `sink` [m/s] when it does.
        """
        if not (0 < seconds < np.inf and np.isfinite(lower) and 0 <= sink < np.inf):
            raise InputError(
                f"seconds must be positive, lower finite and sink from 0 on, got {seconds!r}, {lower!r}, {sink!r}"
            )
        phase = self.schedule.at(t)
        if phase.swing is None:
            return False
        step = replace(phase.swing, z=phase.swing.z - lower)
        self._swing(phase).retarget(t, self._landing(step, phase), phase.end + seconds, sink=sink)
        self._rebuild(t, phase, step, phase.end + seconds)
        return True

    def _heading(self, feet: dict[str, FootReference], phase: Phase) -> float:
        """Give the mean of the feet, counted on over full turns."""
        standing = [foot.yaw for foot in phase.feet.values()]
        if phase.swing is None:
            return 0.5 * (standing[0] + standing[1])
        return 0.5 * (standing[0] + _yaw_near(feet[phase.swing.side].pose, standing[0]))

    def _foot(self, t: float, side: str, phase: Phase) -> FootReference:
        if side in phase.feet:
            still = np.zeros(6)
            return FootReference(phase.feet[side].pose, still, still, True)
        return FootReference(*self._swing(phase).at(t), False)

    def _swing(self, phase: Phase) -> Swing:
        """Find the swing of a phase, made when it is first asked for."""
        swing = self._swings.get(phase.step)
        if swing is None:
            assert phase.swing is not None and phase.lifted is not None
            start = phase.lifted.pose if self._ground is None else self._ground.soles[phase.swing.side]
            landing = self._landing(phase.swing, phase)
            swing = Swing(start, landing, phase.start, phase.end, clearance=self.clearance)
            self._swings, self._due = {phase.step: swing}, phase.end
        return swing

    def _landing(self, step: Footstep, phase: Phase) -> Array:
        """Find the pose T_world_sole (4, 4) of a footstep on the ground."""
        return step.pose if self._ground is None else self._ground.landing(step, next(iter(phase.feet.values())))

    def _below(self, x: float, y: float, phase: Phase) -> float:
        """Tell how high [m] the ground is below the mass."""
        if self._ground is None:
            return sum(foot.z for foot in phase.feet.values()) / len(phase.feet)
        return self._ground.below(x, y, phase.feet)

    def _adapt(self, t: float, dcm: Array) -> None:
        """Change place and time of the step in the air if the footsteps as they are leave too little room."""
        phase = self.schedule.at(t)
        self.change, room = None, self.room
        if room < 0 and phase.kind in ("stand", "stop") and not self.walking:
            self._recover(t, dcm, phase)
        if room < 0 and phase.kind == "double" and phase.end - t > HURRY * self.timing.double:
            self._hurry(t, phase)
        if room >= self.touch or phase.swing is None:
            return
        left, single = phase.end - t, self.timing.single
        if left < LOCKED * single:
            return
        stance = next(iter(phase.feet.values()))
        landing = self.schedule.dcm(phase.end) - phase.swing.position
        edge = 0.5 * self.body.feet[phase.swing.side].size - self.schedule.margin
        change = adapt_step(
            dcm,
            nearest(phase.polygon, dcm),  # the foot helps as far as it can
            stance,
            phase.swing,
            offset=landing,
            remaining=left,
            shortest=max(LOCKED * single, QUICKEST * single - (t - phase.start)),
            longest=max(left, SLOWEST * single - (t - phase.start)),
            next_shortest=QUICKEST * single + self.timing.double,
            omega=self.body.omega,
            limits=self.limits,
            foot=edge,
        )
        if change.status == "failed":
            return
        self.change = change
        end = t + change.remaining
        self._swing(phase).retarget(t, self._landing(change.step, phase), end)
        self._due = end
        self._rebuild(t, phase, change.step, end)

    def _recover(self, t: float, dcm: Array, phase: Phase) -> None:
        """Begin a step from standing, at once, with the foot on the side to which the robot falls."""
        left, right = phase.feet["left"], phase.feet["right"]
        middle = 0.5 * (self.schedule.centre(left) + self.schedule.centre(right))
        aside = float((dcm - middle) @ (left.position - right.position))
        side = "left" if aside >= 0 else "right"
        step = next_step(phase.feet[other(side)], (0.0, 0.0, 0.0), self.limits)
        steps = [step, closing_step(step, self.limits)]
        zmp = self.schedule.own.at(t).zmp
        quick = HURRY * self.timing.double
        tail = self.schedule.following(t, phase.feet, zmp, steps, phase.step, double=quick)
        self.schedule = Schedule.of_phases(self.schedule, tail)

    def _hurry(self, t: float, phase: Phase) -> None:
        """Lift the next foot at once: on both feet nothing is gained."""
        steps, quick = self._coming(phase.feet, phase.step), HURRY * self.timing.double
        if not steps:
            stance = list(phase.feet.values())[-1]
            steps = [closing_step(stance, self.limits)]
        zmp = self.schedule.own.at(t).zmp
        before = [earlier for earlier in self.schedule.phases if earlier.end <= t][-1:]
        tail = self.schedule.following(t, phase.feet, zmp, steps, phase.step, double=quick)
        self.schedule = Schedule.of_phases(self.schedule, [*before, *tail])

    def _rebuild(
        self,
        t: float,
        phase: Phase,
        landing: Footstep | None = None,
        end: float | None = None,
        double: float | None = None,
    ) -> None:
        """Make the schedule anew from the present phase on, with the step in the air as given."""
        self._renew = False
        schedule = self.schedule
        before = [earlier for earlier in schedule.phases if earlier.end <= t][-1:]
        if phase.swing is None:
            phases = [*before, *self._from_both(t, phase)]
        else:
            landing, end = landing or phase.swing, phase.end if end is None else end
            stance = next(iter(phase.feet.values()))
            under = (phase.zmp[0], phase.zmp[1])
            head = schedule.phase(
                "single", phase.start, end, phase.feet, under, phase.step, swing=landing, lifted=phase.lifted
            )
            feet = {stance.side: stance, landing.side: landing}
            coming = self._coming(feet, phase.step + 1)
            both = self.timing.double if double is None else double
            tail = schedule.following(end, feet, under[1], coming, phase.step + 1, double=both)
            phases = [*before, head, *tail]
        self.schedule = Schedule.of_phases(self.schedule, phases)

    def _from_both(self, t: float, phase: Phase) -> list[Phase]:
        """Go on from a time at which both feet stand."""
        now = self.schedule.own.at(t)
        if phase.kind == "double":
            steps = self._coming(phase.feet, phase.step)
            double = max(phase.end - t, 1e-3)
            return self.schedule.following(t, phase.feet, now.zmp, steps, phase.step, double=double)
        self._paces.clear()
        steps = self._first_steps(phase) if self.walking else []
        double = self.timing.start
        return self.schedule.following(t, phase.feet, now.zmp, steps, phase.step, double=double, dcm=now.dcm)

    def _first_steps(self, phase: Phase) -> Sequence[Footstep]:
        """Plan the steps from standing: the foot on the side that the command goes to comes first."""
        if self._goal is not None:
            return self._to_goal(phase.feet, None)
        side = leading_side(self.velocity)
        return self._coming({side: phase.feet[side], other(side): phase.feet[other(side)]}, phase.step)

    def _coming(self, feet: dict[str, Footstep], first: int) -> Sequence[Footstep]:
        """Plan the steps after the last of these feet: gradually to the command, or to rest and one that closes."""
        stance = list(feet.values())[-1]
        if self._goal is not None:
            return self._to_goal(feet, other(stance.side))
        steps: list[Footstep] = []
        pace = self._paces.get(first - 1, np.zeros(3))
        wanted = self.velocity if self.walking else np.zeros(3)
        self._paces = {first - 1: pace}
        for k in range(AHEAD):
            pace = pace + np.clip(wanted - pace, -self._ramp, self._ramp)
            pace = np.where(np.abs(wanted - pace) < SNAP * self._ramp, wanted, pace)
            if not self.walking and not pace.any():
                break
            self._paces[first + k] = pace
            steps.append(next_step(stance, pace * self.timing.step, self.limits))
            stance = steps[-1]
        closing = closing_step(stance, self.limits)
        if not steps and np.abs(closing.seen_from(feet[closing.side])).max() < CLOSED:
            return []
        return [*steps, closing]

    def _to_goal(self, feet: dict[str, Footstep], first: str | None) -> Sequence[Footstep]:
        """Plan the next steps to the goal; near it all of them, after which it stands."""
        assert self._goal is not None
        goal, limits = self._goal
        steps = walk_to(self.body, goal, limits=limits, start=feet, first=first, share=1.0, tolerance=NEAR)
        self.walking = len(steps) > AHEAD
        if not self.walking:
            return steps
        return [*steps[:AHEAD], closing_step(steps[AHEAD - 1], limits)]


def _yaw_near(T: Array, yaw: float) -> float:
    """Give the yaw of a pose, within half a turn of another."""
    return yaw + wrap(float(np.arctan2(T[1, 0], T[0, 0])) - yaw)
