"""The whole body that walks: plans in, torques out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import cos, sin
from time import perf_counter

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.balance.polygon import nearest
from kinodyn.control.inverse_dynamics import InverseDynamicsQP
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.model.state import State
from kinodyn.tasks import ComTask, FrameTask, MomentumTask, PostureTask
from kinodyn.walking.biped import Biped
from kinodyn.walking.ground import Ground
from kinodyn.walking.planner import Planner
from kinodyn.walking.reference import FootReference, Reference

TOUCH = 0.05  # of the weight: what a foot bears when it has landed
EARLY = 0.4  # of a single support: the part at its end in which a landing is taken for one
LATE = 0.4  # of a single support: how long a foot that finds no ground goes on down
GROPE = 0.02  # [s] by which it is put off each time
DESCENT = 0.6  # legs per second: how fast it goes down then at most; until then it falls like a stone
GAIN = 0.6  # of the divergent component's error, in natural frequencies
URGENT = 0.004  # [s] between plans while steps have to change
LOADING = 0.06  # [s] in which a foot that has landed takes its load
HURRIED = 0.01  # [s] the same while steps have to change
SWING = 12.0  # natural frequencies, with which the swing foot is followed
SETTLE = 0.1  # [s] after a landing from which on a foot tells how the ground rises
GROUND = 0.3  # [s] of standing on one foot over which that is averaged
STEEPEST = 0.2  # rise that is believed
TRUST = 0.25  # in a measured velocity of the mass, beside the one that the forces of the tick before should give
POSTURE = 0.3  # weight of the posture
CALM = 2.5  # natural frequencies, with which it is followed
SPIN = 2.0  # weight of little angular momentum: arms make up for the legs
HIP = 0.2  # legs: how far beyond the feet the zero moment point may be asked for
FALLEN = 0.6  # of the height of its base above the feet: below, a robot has fallen

Forces = Mapping[str, Array]


class WalkingController:
    """Walk by torques: a planner says where mass and feet go, inverse dynamics which torques take them there.

    Every `plan_dt` the planner starts anew from the measured mass. At every call, the divergent component's error moves
    the zero moment point within the feet (`balance.dcm_feedback`), which gives the acceleration of the mass. Swing
    foot, base and posture are followed beside it. All gains are multiples of the pendulum's natural frequency.

    Parameters
    ----------
    body
        The biped, or a robot.
    forces
        Called at every tick, gives the wrench (6,) that is measured at each foot's frame, to notice landings; None:
        feet land when the plan says so.
    dt
        Time between calls [s].
    plan_dt
        Time between plans [s].
    friction
        What the controller counts on.

    Attributes
    ----------
    signals : dict
        "dcm", "dcm_reference", "zmp_reference" (2,), "com_reference", "left_reference", "right_reference" (3,) of the
        soles, "gradient" (2,) of the ground as felt, "stance" (2,) which of left and right foot stands, "relaxed":
        whether limits contradicted each other.
    plan_times, solve_times : list of float
        How long each plan took, and the quadratic programme in it [s].
    fallen : float or None
        When the robot fell; from then on it is without torque.
    """

    def __init__(
        self,
        body: Biped | Robot,
        *,
        forces: Callable[[], Forces] | None = None,
        planner: Planner | None = None,
        dt: float = 2e-3,
        plan_dt: float = 0.04,
        friction: float = 0.5,
    ) -> None:
        if not 0 < dt <= plan_dt < np.inf:
            raise InputError(f"times must be 0 < dt <= plan_dt, got {dt!r} and {plan_dt!r}")
        self.body = body if isinstance(body, Biped) else Biped.of(body)
        self.robot, self.forces, self.dt, self.plan_dt = self.body.robot, forces, dt, plan_dt
        self.planner = planner or Planner(self.body)
        self.weight = self.robot.mass * float(np.linalg.norm(self.robot.gravity))
        self.signals: dict[str, object] = {}
        self.fallen: float | None = None
        self.plan_times: list[float] = []
        self.solve_times: list[float] = []
        self._commands: list[tuple[float, Callable[[], None]]] = []
        self._next_plan = self._planned = -np.inf
        self._landed = {"left": -np.inf, "right": -np.inf}
        self._stands = {"left": True, "right": True}
        self._late, self._loading = 0.0, LOADING
        self._upright = self._above_feet(State(self.robot, self.body.q))
        self._gradient = (0.0, 0.0)
        self._velocity = np.zeros(3)  # of the mass, less noise than measured
        self._level = (self.body.com_height, 0.0)
        self._tasks(friction)

    def _tasks(self, friction: float) -> None:
        body, robot, omega = self.body, self.robot, self.body.omega
        q, self._base = body.q, robot.joints[0].child
        self._com = ComTask(np.zeros(3), weights=10.0, name="mass")
        self._trunk = FrameTask(self._base, body.base, weights=(0, 0, 0, 4, 4, 4), name="trunk")
        posture = PostureTask(q, weights=POSTURE)
        self._swing = {
            side: FrameTask(foot.frame, foot.frame_pose(np.eye(4)), weights=20.0, name=f"{side} swing")
            for side, foot in body.feet.items()
        }
        self._com.frequency, self._trunk.frequency, posture.frequency = 1.2 * omega, 3.0 * omega, CALM * omega
        for task in self._swing.values():
            task.frequency = SWING * omega
        self._contacts = {side: foot.contact(friction) for side, foot in body.feet.items()}
        spin = MomentumTask(weights=(0.0, 0.0, 0.0, SPIN, SPIN, SPIN), name="angular momentum")
        spin.frequency = omega
        tasks = [self._com, self._trunk, posture, spin, *self._swing.values()]
        self.whole_body = InverseDynamicsQP(robot, tasks, contacts=list(self._contacts.values()), dt=self.dt)

    def command(self, velocity: ArrayLike | None, *, at: float = 0.0) -> None:
        """Walk at a velocity (3,), forward, sideways [m/s] and turn [rad/s], from time `at` [s] on; None: stop."""
        if velocity is None:
            self._at(at, self.planner.stop)
        else:
            wanted = np.array(self.planner.limits.check(velocity, self.planner.timing.step))
            self._at(at, lambda: self.planner.command(wanted))

    def go_to(self, goal: ArrayLike, *, speed: float, at: float = 0.0) -> None:
        """Walk to x, y [m] and heading [rad] of the middle between the soles, from time `at` [s] on, and stand."""
        self.planner.check_goal(goal, speed)
        self._at(at, lambda: self.planner.go_to(goal, speed=speed))

    def _at(self, time: float, what: Callable[[], None]) -> None:
        self._commands = sorted([*self._commands, (float(time), what)], key=lambda entry: entry[0])

    def __call__(self, t: float, state: State) -> Array:
        """Compute the torques (nv,) at time t [s]."""
        if self.fallen is None and self._above_feet(state) < FALLEN * self._upright:
            self.fallen = t
        if self.fallen is not None:
            return np.zeros(self.robot.nv)
        while self._commands and self._commands[0][0] <= t:
            self._commands.pop(0)[1]()
        self._velocity += TRUST * (state.com_velocity - self._velocity)
        self._feel(t, state)
        reference = self._land(t, state, self._plan(t, state))
        self._follow(t, state, reference)
        result = self.whole_body.solve(state)
        force = state.momentum_matrix[:3] @ result.a + state.momentum_bias[:3]
        self._velocity += (self.dt / self.robot.mass) * force  # what it should be at the next tick
        self.signals["relaxed"] = float(not result.success)
        return result.tau

    def _feel(self, t: float, state: State) -> None:
        """Find out where the soles are, and by the one that stands alone how the ground rises."""
        soles = {side: state.pose(foot.frame) @ foot.T_frame_sole for side, foot in self.body.feet.items()}
        standing = [side for side, on in self._stands.items() if on]
        if len(standing) == 1 and t > self._landed[standing[0]] + SETTLE:
            x, y, z = soles[standing[0]][:3, 2].tolist()
            share = self.dt / GROUND
            a, b = self._gradient
            self._gradient = a + share * (_bounded(-x / z) - a), b + share * (_bounded(-y / z) - b)
        self.planner.observe(Ground(soles, self._gradient))
        self.signals["gradient"] = np.array(self._gradient)

    def _above_feet(self, state: State) -> float:
        """Measure how high the base is above the lower foot [m]."""
        return float(state.q[2]) - min(float(state.pose(foot.frame)[2, 3]) for foot in self.body.feet.values())

    def _plan(self, t: float, state: State) -> Reference:
        """Plan when it is time, or at once if the robot is not where the last plan has it."""
        if t >= self._next_plan - 1e-9:
            self._update(t, state)
        reference = self.planner.reference(t)
        dcm = state.com[:2] + self._velocity[:2] / self.body.omega
        off = float(np.abs(dcm - reference.dcm).max())
        if off > 2.0 * self.planner.touch and t >= self._planned + URGENT - 1e-9:
            self._update(t, state)
            reference = self.planner.reference(t)
        return reference

    def _update(self, t: float, state: State) -> None:
        begin, planner = perf_counter(), self.planner
        plan = planner.update(t, state.com, self._velocity)
        self.plan_times.append(perf_counter() - begin)
        self.solve_times.append(plan.seconds)
        self._planned = t
        self._next_plan = t + (URGENT if planner.room < planner.touch else self.plan_dt)

    def _land(self, t: float, state: State, reference: Reference) -> Reference:
        """Let a foot that bears weight before its time stand at once, and one that does not in time go on down."""
        swing, planner = reference.phase.swing, self.planner
        if self.forces is None or swing is None or reference.left > EARLY * reference.phase.length:
            return reference
        foot = self.body.feet[swing.side]
        bears = float(self.forces()[foot.frame][2]) > TOUCH * self.weight
        if bears and planner.touchdown(t, swing.side, foot.sole_pose(self.robot, state.q)):
            pass
        elif not bears and reference.left < 1.5 * self.dt and self._late < LATE * planner.timing.single:
            before, sink = self._sinking(self._late), self._sinking(self._late + GROPE)
            self._late += GROPE
            planner.delay(t, GROPE, lower=0.5 * (before + sink) * GROPE, sink=sink)
        else:
            return reference
        self._update(t, state)
        return planner.reference(t)

    def _sinking(self, late: float) -> float:
        """Tell how fast [m/s] a foot goes down that should have landed so long ago [s]."""
        return min(late * self.weight / self.robot.mass, DESCENT * self.body.leg)

    def _follow(self, t: float, state: State, reference: Reference) -> None:
        omega, (x, y, _), (vx, vy, _) = self.body.omega, state.com.tolist(), self._velocity.tolist()
        dcm = np.array([x + vx / omega, y + vy / omega])
        wanted = reference.zmp + (1.0 + GAIN) * (dcm - reference.dcm)
        zmp = nearest(reference.phase.polygon, wanted)
        px, py = self._beyond(dcm, zmp, reference).tolist()
        z, vz, az = self._height(reference)
        # along the ground the mass is only accelerated, by what the zero moment point asks for
        acceleration = np.array([omega**2 * (x - px), omega**2 * (y - py), az])
        self._com.track(np.array([x, y, z]), np.array([vx, vy, vz]), acceleration)
        turned, rate, faster = np.eye(4), np.zeros(6), np.zeros(6)
        turned[:3, :3] = turn_z(reference.heading) @ self.body.base[:3, :3]
        rate[5], faster[5] = reference.heading_rate, reference.heading_acceleration
        self._trunk.track(turned, rate, faster)
        for side in self.body.feet:
            self._foot(t, side, reference.feet[side])
            self.signals[f"{side}_reference"] = reference.feet[side].pose[:3, 3]
        stance = np.array([float(self._stands[side]) for side in ("left", "right")])
        self.signals.update(dcm=dcm, dcm_reference=reference.dcm, zmp_reference=zmp, stance=stance)
        self.signals["com_reference"] = np.array([*reference.com[:2].tolist(), z])

    def _beyond(self, dcm: Array, zmp: Array, reference: Reference) -> Array:
        """Ask for a point beyond the feet while no step of the plan catches the robot: its trunk has to swing."""
        if self.planner.room >= 0:
            return zmp
        missing = dcm - nearest(reference.phase.polygon, dcm)
        far = float(np.hypot(*missing))
        return zmp + missing * min(1.0, HIP * self.body.leg / max(far, 1e-9))

    def _height(self, reference: Reference) -> tuple[float, float, float]:
        """Follow the height of the ground under the feet smoothly: height, velocity, acceleration of the mass."""
        z, vz = self._level
        wanted, w = float(reference.com[2]), 1.5 * self.body.omega
        az = w * w * (wanted - z) - 2.0 * w * vz
        self._level = (z + self.dt * vz, vz + self.dt * az)
        return z, vz, az

    def _foot(self, t: float, side: str, reference: FootReference) -> None:
        use = self.whole_body.contacts[self._contacts[side].name]
        if reference.contact and not self._stands[side]:
            self._landed[side], self._late = t, 0.0
            self._loading = HURRIED if self.planner.room < self.planner.touch else LOADING
        self._stands[side] = use.active = reference.contact
        self.whole_body.enable(self._swing[side].name, not reference.contact)
        if reference.contact:
            use.maximum = 2.0 * self.weight * min(1.0, TOUCH + (t - self._landed[side]) / self._loading)
        else:
            pose = self.body.feet[side].frame_pose(reference.pose)
            self._swing[side].track(pose, reference.velocity, reference.acceleration)


def _bounded(rise: float) -> float:
    return min(max(rise, -STEEPEST), STEEPEST)


def turn_z(angle: float) -> Array:
    """Make the matrix of a turn about z, quickly."""
    c, s = cos(angle), sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
