"""The walking controller: observations in, torques out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import perf_counter

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types, evaluate_annotations
from kinodyn.arrays import Array
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.model.state import State
from kinodyn.sim import Observation
from kinodyn.walking.biped import SIDES, Biped
from kinodyn.walking.body_lowering import BodyLowering
from kinodyn.walking.com_feedback import CoMFeedback
from kinodyn.walking.ground_estimate import GroundEstimator
from kinodyn.walking.planner import Planner
from kinodyn.walking.reference import Reference
from kinodyn.walking.rise_limit import RiseLimit
from kinodyn.walking.settings import GaitSettings
from kinodyn.walking.terrain_plan import TerrainPlan
from kinodyn.walking.touchdowns import TouchdownMonitor
from kinodyn.walking.tracking import WholeBodyTracker
from kinodyn.walking.upper_body import UpperBody
from kinodyn.walking.warm_up import warm_up

UNEVEN = 0.03  # [m] difference of height of two feet


@displayed
class WalkingController:
    """Walking controller: a planner provides references, and inverse dynamics the torques that track them.

    Every `settings.plan_interval` the planner replans from the measured CoM. At every tick, feedback of the divergent
    component of motion (DCM) moves the zero moment point (ZMP) within the feet (`balance.dcm_feedback`), which gives
    the acceleration of the CoM. Swing foot, trunk and posture are tracked at the same time.

    Parameters
    ----------
    body
        The biped, or a robot.
    settings
        By default those of the planner, or `GaitSettings.from_robot(body)`.
    planner
        By default made from the settings.
    upper_body
        Tasks of the upper body, and hands that support the robot.
    dt
        Control period [s].

    Attributes
    ----------
    signals : dict
        "dcm", "dcm_reference", "zmp_reference" (2,), "com_reference", "left_reference", "right_reference" (3,) of the
        soles, "gradient" (2,) of the estimated ground, "stance" (2,) whether the left and the right foot stand,
        "relaxed": whether limits were in conflict.
    plan_times, solve_times : list of float
        Computation time of each plan, and of the QP in it [s].
    fallen : float or None
        Time at which the robot fell; from then on the torques are zero.

    Examples
    --------
    >>> import kinodyn as kd
    >>> controller = kd.walking.WalkingController(kd.load("humanoid"))
    >>> body = controller.body
    >>> half = np.array([0.0, 0.0, 0.5 * body.weight, 0.0, 0.0, 0.0])
    >>> forces = {foot.frame: half for foot in body.feet.values()}
    >>> tau = controller.act(kd.sim.Observation(0.0, kd.State(body.robot, body.q), forces))
    >>> tau.shape
    (36,)
    """

    @check_types
    def __init__(
        self,
        body: Biped | Robot,
        *,
        settings: GaitSettings | None = None,
        planner: Planner | None = None,
        upper_body: UpperBody | None = None,
        dt: float = 2e-3,
    ) -> None:
        self.body = body if isinstance(body, Biped) else Biped.from_robot(body)
        if settings is not None and planner is not None and planner.settings is not settings:
            raise InputError("the planner has other settings; give settings to the planner only")
        self.planner = planner or Planner(self.body, settings=settings)
        self.settings, self.robot, self.dt = self.planner.settings, self.body.robot, dt
        if not 0 < dt <= self.settings.plan_interval:
            raise InputError(
                f"dt must be above 0 and at most plan_interval, {self.settings.plan_interval:g} s, got {dt!r}"
            )
        self.signals: dict[str, object] = {}
        self.fallen: float | None = None
        self.plan_times: list[float] = []
        self.solve_times: list[float] = []
        self._commands: list[tuple[float, Callable[[], None]]] = []
        self._next_plan = self._last_plan = -np.inf
        self._adapted = False  # steps have changed since the last run of the MPC
        self._touchdowns = dict.fromkeys(SIDES, -np.inf)
        self._stands = dict.fromkeys(SIDES, True)
        self._edges = dict.fromkeys(SIDES, "sole")  # part of each foot that stands
        self._loading_time = self.settings.loading_time
        self._stance_height = self._com_height(State(self.robot, self.body.q))
        self._com_velocity = np.zeros(3)  # filtered
        self._com_feedback = CoMFeedback(self.body, self.planner, dt)
        self._lowering = BodyLowering(self.body, self.planner)
        self._rise_limit = RiseLimit(self.body, self.settings)
        self._max_load = self.settings.max_load  # of a foot, as a multiple of the weight
        self._touchdown_monitor = TouchdownMonitor(self.body, self.planner, dt)
        self._trunk = np.zeros((2, 3))  # filtered roll, pitch and yaw relative to the heading, and their rates
        self._ground = GroundEstimator(self.body, self.settings, dt)
        self._tracker = WholeBodyTracker(self.body, self.settings, dt, upper_body)
        self._tracker.solve(State(self.robot, self.body.q))  # makes the tables of the QP before the first tick
        warm_up(self.planner)
        evaluate_annotations(WalkingController.act, UpperBody.update)
        self._upper_body = upper_body
        friction = self.robot.friction
        self._effort, self._friction = self.robot.limits.effort.copy(), friction if friction.any() else None
        self._effort[:6] = 0.0  # no motor compensates the friction and springs of the free joint, which MJCF allows
        self._own_state: State | None = None

    def command(self, velocity: ArrayLike | None, *, at: float = 0.0) -> None:
        """Walk at a velocity from a time on.

        Parameters
        ----------
        velocity
            Forward, lateral [m/s] and turn [rad/s] (3,); None stops.
        at
            [s]
        """
        if velocity is None:
            self._schedule(at, self.planner.stop)
        else:
            checked = np.array(self.planner.timing.check(velocity))
            self._schedule(at, lambda: self.planner.command(checked))

    def go_to(self, goal: ArrayLike, *, speed: float, at: float = 0.0) -> None:
        """Walk to a goal from a time on, and stand there.

        Parameters
        ----------
        goal
            x, y [m] and yaw [rad] of the centre between the soles (3,).
        speed
            [m/s]
        at
            [s]
        """
        self.planner.check_goal(goal, speed)
        self._schedule(at, lambda: self.planner.go_to(goal, speed=speed))

    @check_types
    def follow(self, terrain: TerrainPlan, *, at: float = 0.0) -> None:
        """Walk on the footsteps of a plan over terrain from a time on, and stand at its goal.

        Parameters
        ----------
        terrain
            The plan.
        at
            [s]
        """

        def start() -> None:
            self.planner.follow(terrain)
            self._tracker.prepare_for_terrain()

        self.planner.schedule.builder.soles.prepare(terrain.steps)
        self._schedule(at, start)

    def _schedule(self, time: float, action: Callable[[], None]) -> None:
        self._commands = sorted([*self._commands, (float(time), action)], key=lambda entry: entry[0])

    @check_types
    def act(self, observation: Observation) -> Array:
        """Compute the torques of one control tick: sense, decide, act.

        Parameters
        ----------
        observation
            State, foot forces and time; without forces, feet land as planned.

        Returns
        -------
        (nv,)
            Torques [N m]; zero after a fall.
        """
        observation = self._with_own_state(observation)
        t, state = observation.time, observation.state
        if self.fallen is None and self._com_height(state) < self.settings.fall_height * self._stance_height:
            self.fallen = t
        if self.fallen is not None:
            return np.zeros(self.robot.nv)
        while self._commands and self._commands[0][0] <= t:
            self._commands.pop(0)[1]()
        self._com_velocity += self.settings.velocity_filter * (state.com_velocity - self._com_velocity)
        self._sense_ground(t, state)
        if self._steps_changed(observation):
            self.planner.measure_margin(t, state.com, self._com_velocity)
            self._next_plan = t + self.dt  # the MPC follows in the next tick, so that no tick has to do both
            reference = self.planner.reference(t)
        else:
            reference = self._plan(t, state)
        self._track(t, state, reference)
        if self._upper_body is not None:
            self._upper_body.update(t, state, reference, self._com_feedback.ground_height, observation.forces)
        result = self._tracker.solve(state)
        force = state.momentum_matrix[:3] @ result.a + state.momentum_bias[:3]
        self._com_velocity += (self.dt / self.robot.mass) * force  # prediction for the next tick
        self.signals["relaxed"] = float(not result.success)
        return self._motor_torques(result.tau, state.v, observation.elastic)

    def _motor_torques(self, tau: Array, v: Array, elastic: Array | None) -> Array:
        """Return the torques (nv,) of the motors that have the desired ones in sum with friction and springs."""
        if self._friction is None and elastic is None:
            return tau
        if self._friction is not None:
            tau = tau + self._friction * np.clip(v / self.settings.tracking.friction_speed, -1.0, 1.0)
        if elastic is not None:
            tau = tau - elastic
        return np.clip(tau, -self._effort, self._effort)

    def _with_own_state(self, observation: Observation) -> Observation:
        """Return the observation with a state of the controller's own model, which may include a load."""
        observed = observation.state
        if observed.robot is self.robot:
            return observation
        if self._own_state is None:
            self._own_state = State(self.robot, observed.q, observed.v)
        self._own_state.update(observed.q, observed.v)
        return replace(observation, state=self._own_state)

    @property
    def rolling_feet(self) -> tuple[str, ...]:
        """Frames of the feet that roll over their toes or heels."""
        return tuple(self.body.feet[side].frame for side, edge in self._edges.items() if edge != "sole")

    def _sense_ground(self, t: float, state: State) -> None:
        """Estimate the ground; a settled foot in single support measures its slope."""
        standing = [side for side, on in self._stands.items() if on]
        alone = len(standing) == 1 and t > self._touchdowns[standing[0]] + self.settings.slope_delay
        rolling = [side for side, edge in self._edges.items() if edge != "sole"]
        ground = self._ground.update(state, standing[0] if alone else None, rolling)
        self.planner.ground.estimate = ground
        self.signals["gradient"] = np.array(ground.gradient)

    def _com_height(self, state: State) -> float:
        """Return the height of the CoM above the lower foot [m]."""
        return float(state.com[2]) - min(float(state.pose(foot.frame)[2, 3]) for foot in self.body.feet.values())

    def _plan(self, t: float, state: State) -> Reference:
        """Replan periodically, or as soon as the robot has left the last plan."""
        if t >= self._next_plan - 1e-9:
            self._update(t, state)
        reference = self.planner.reference(t)
        dcm = state.com[:2] + self._com_velocity[:2] / self.body.omega
        error = float(np.abs(dcm - reference.dcm).max())
        due = t >= self._last_plan + self.settings.recovery_plan_interval - 1e-9
        if error > 2.0 * self.settings.adaptation_margin and due:
            self._update(t, state)
            reference = self.planner.reference(t)
        return reference

    def _update(self, t: float, state: State) -> None:
        """Adapt the steps if need be, or else run the MPC; after an adaptation it runs in the next tick."""
        begin = perf_counter()
        if not self._adapted:
            self._last_plan = t
        self._adapted = not self._adapted and self.planner.adapt_steps(t, state.com, self._com_velocity)
        if self._adapted and self.planner.plan is not None:
            self._next_plan = t + self.dt
        else:
            plan = self.planner.plan_com(t, state.com, self._com_velocity)
            self.solve_times.append(plan.seconds)
            interval = self.settings.recovery_plan_interval if self.planner.recovering else self.settings.plan_interval
            self._next_plan = self._last_plan + interval
        self.plan_times.append(perf_counter() - begin)

    @property
    def _over_terrain(self) -> bool:
        """Return whether the robot follows a plan over terrain."""
        return self.planner.terrain is not None

    def _steps_changed(self, observation: Observation) -> bool:
        """Change the planned steps after a touchdown, or plan more of them; not in the tick of the first plan."""
        due = self.planner.plan is not None and observation.time >= self._next_plan - 1e-9
        return self._touchdown_monitor.update(observation) or (due and self.planner.plan_steps(observation.time))

    def _track(self, t: float, state: State, reference: Reference) -> None:
        lower = self._lowering(t, state, reference)
        com = self._com_feedback(state, self._com_velocity, reference, lower)
        self._tracker.track_com(com.position, com.velocity, com.acceleration)
        if self.planner.pushed(t) and not self._over_terrain:
            self._max_load = self._rise_limit(float(com.position[2] - state.com[2]), float(self._com_velocity[2]))
        else:
            self._max_load = self.settings.max_load
        angles = self._filter_trunk(t)
        self._tracker.track_trunk(reference.heading, reference.heading_rate, reference.heading_acceleration, angles)
        for side in self.body.feet:
            self._track_foot(t, side, reference, state)
            self.signals[f"{side}_reference"] = reference.feet[side].pose[:3, 3]
        stance = np.array([float(self._stands[side]) for side in SIDES])
        self.signals.update(dcm=com.dcm, dcm_reference=reference.dcm, zmp_reference=com.zmp, stance=stance)
        self.signals["com_reference"] = np.array([*reference.com[:2].tolist(), float(com.position[2])])

    def _filter_trunk(self, t: float) -> Array:
        """Filter the angles (3,) of the trunk [rad], by a critically damped low-pass filter of second order."""
        if not self._over_terrain:
            return np.zeros(3)
        angles, rates = self._trunk
        w = self.settings.tracking.height_frequency
        change = w * w * (self.planner.ground.trunk_angles(self.planner.schedule.at(t)) - angles) - 2.0 * w * rates
        self._trunk = np.array([angles + self.dt * rates, rates + self.dt * change])
        return np.asarray(angles)

    def _track_foot(self, t: float, side: str, reference: Reference, state: State) -> None:
        foot, settings = reference.feet[side], self.settings
        if foot.contact and not self._stands[side]:
            self._touchdowns[side] = t
            self._touchdown_monitor.landed()
            self.planner.landed(t, side)
            self._loading_time = settings.recovery_loading_time if self.planner.recovering else settings.loading_time
        self._stands[side] = foot.contact
        if foot.contact:
            load = min(1.0, settings.touchdown_load + (t - self._touchdowns[side]) / self._loading_time)
            edge = self._edge(side, reference)
            if edge != self._edges[side] and edge != "sole" and self._over_terrain:
                self.planner.roll(t, side, edge)
            self._edges[side] = edge
            support = reference.phase.feet[side].support
            self._tracker.stand_on(side, self._max_load * self.body.weight * load, edge, support)
            if edge != "sole" and self._over_terrain:
                self._tracker.roll(side, foot, state)
        else:
            self._edges[side] = "sole"
            self._tracker.swing(side, foot, state)

    def _edge(self, side: str, reference: Reference) -> str:
        """Choose the part of a foot that stands: between two steps the foot at the back rolls over its toes.

        It does so once the ZMP has left it: what it still bears is at its edge then. Walking backward, it rolls over
        its heel. A foot whose roll is free does not: its leg cannot keep the edge level.
        """
        phase = reference.phase
        flat = phase.kind != "double" or self.body.feet[side].free == "roll"
        if flat or side != next(iter(phase.feet)):
            return "sole"
        if self._edges[side] != "sole":
            return self._edges[side]
        foot, step = self.body.feet[side], phase.feet[side]
        (dx, dy), margin = reference.zmp - step.position, self.settings.zmp_margin
        along = float(np.cos(step.yaw) * dx + np.sin(step.yaw) * dy)
        back, front = foot.rectangle[:, 0].tolist()
        rise = list(phase.feet.values())[-1].z - step.z
        if self._over_terrain and abs(rise) > UNEVEN:
            # slow steps: the edge bears the load as soon as the foot rolls; down, before its ankle is at its limit
            front = float((foot.corners if step.support is None else np.array(step.support))[:, 0].max())
            front += 0.5 * margin if rise > 0.0 else -0.5 * margin
        if along > front - margin:
            return "toe"
        return "heel" if along < back + margin else "sole"
