"""The whole body that walks: plans in, torques out."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.balance.feedback import dcm_feedback
from kinodyn.control.inverse_dynamics import InverseDynamicsQP
from kinodyn.description.types import Array
from kinodyn.errors import InputError
from kinodyn.robot import Robot
from kinodyn.spatial import rot_z
from kinodyn.state import State
from kinodyn.tasks import ComTask, FrameTask, PostureTask
from kinodyn.walking.biped import Biped
from kinodyn.walking.planner import FootReference, Planner, Reference

TOUCH = 0.05  # of the weight: what a foot bears when it has landed
LATE = 0.4  # of a single support: the part at its end in which a landing is taken for one
LOADING = 0.03  # [s] in which a foot that has landed takes its load
FALLEN = 0.6  # of the height of its base: below, a robot has fallen

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
        "dcm", "dcm_reference", "zmp_reference" (2,), "stance" (2,) which of left and right foot stands, "relaxed":
        whether limits contradicted each other.
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
        self._commands: list[tuple[float, Array | None]] = []
        self._next_plan = -np.inf
        self._landed = {"left": -np.inf, "right": -np.inf}
        self._stands = {"left": True, "right": True}
        self._tasks(friction)

    def _tasks(self, friction: float) -> None:
        body, robot, omega = self.body, self.robot, self.body.omega
        q, self._base = body.q, robot.joints[0].child
        self._com = ComTask(np.zeros(3), weights=10.0, name="mass")
        self._trunk = FrameTask(self._base, body.base, weights=(0, 0, 0, 4, 4, 4), name="trunk")
        posture = PostureTask(q, weights=0.1)
        self._swing = {
            side: FrameTask(foot.frame, foot.frame_pose(np.eye(4)), weights=20.0, name=f"{side} swing")
            for side, foot in body.feet.items()
        }
        self._com.frequency, self._trunk.frequency, posture.frequency = 1.2 * omega, 3.0 * omega, 1.5 * omega
        for task in self._swing.values():
            task.frequency = 6.0 * omega
        self._contacts = {side: foot.contact(friction) for side, foot in body.feet.items()}
        tasks = [self._com, self._trunk, posture, *self._swing.values()]
        self.whole_body = InverseDynamicsQP(robot, tasks, contacts=list(self._contacts.values()), dt=self.dt)

    def command(self, velocity: ArrayLike | None, *, at: float = 0.0) -> None:
        """Walk at a velocity (3,), forward, sideways [m/s] and turn [rad/s], from time `at` [s] on; None: stop."""
        if velocity is not None:
            velocity = np.array(self.planner.limits.check(velocity, self.planner.timing.step))
        self._commands = sorted([*self._commands, (float(at), velocity)], key=lambda entry: entry[0])

    def __call__(self, t: float, state: State) -> Array:
        """Compute the torques (nv,) at time t [s]."""
        if self.fallen is not None or state.q[2] < FALLEN * self.body.q[2]:
            self.fallen = t if self.fallen is None else self.fallen
            return np.zeros(self.robot.nv)
        self._plan(t, state)
        reference = self._land(t, state, self.planner.reference(t))
        self._follow(t, state, reference)
        result = self.whole_body.solve(state)
        self.signals["relaxed"] = float(not result.success)
        return result.tau

    def _plan(self, t: float, state: State) -> None:
        while self._commands and self._commands[0][0] <= t:
            velocity = self._commands.pop(0)[1]
            if velocity is None:
                self.planner.stop()
            else:
                self.planner.command(velocity)
        if t >= self._next_plan - 1e-9:
            self.planner.update(t, state.com, state.com_velocity)
            self._next_plan = t + self.plan_dt

    def _land(self, t: float, state: State, reference: Reference) -> Reference:
        """Let a foot that bears weight before its time stand at once."""
        if self.forces is None or reference.left > LATE * self.planner.timing.single:
            return reference
        for side, foot in self.body.feet.items():
            if reference.feet[side].contact or self.forces()[foot.frame][2] < TOUCH * self.weight:
                continue
            if self.planner.touchdown(t, side, foot.sole_pose(self.robot, state.q)):
                self.planner.update(t, state.com, state.com_velocity)
                return self.planner.reference(t)
        return reference

    def _follow(self, t: float, state: State, reference: Reference) -> None:
        omega, com, velocity = self.body.omega, state.com, state.com_velocity
        dcm = com[:2] + velocity[:2] / omega
        zmp = dcm_feedback(dcm, reference.dcm, reference.zmp, omega, gain=0.6 * omega, polygon=reference.phase.polygon)
        # along the ground the mass is only accelerated, by what the zero moment point asks for
        self._com.track(
            [com[0], com[1], reference.com[2]], [velocity[0], velocity[1], 0.0], [*(omega**2 * (com[:2] - zmp)), 0.0]
        )
        T = np.array(self.body.base)
        T[:3, :3] = rot_z(reference.heading) @ T[:3, :3]
        turning = ([0.0] * 5 + [rate] for rate in (reference.heading_rate, reference.heading_acceleration))
        self._trunk.track(T, *turning)
        for side in self.body.feet:
            self._foot(t, side, reference.feet[side])
        stance = np.array([float(self._stands[side]) for side in ("left", "right")])
        self.signals.update(dcm=dcm, dcm_reference=reference.dcm, zmp_reference=zmp, stance=stance)

    def _foot(self, t: float, side: str, reference: FootReference) -> None:
        use = self.whole_body.contacts[self._contacts[side].name]
        if reference.contact and not self._stands[side]:
            self._landed[side] = t
        self._stands[side] = use.active = reference.contact
        self.whole_body.enable(self._swing[side].name, not reference.contact)
        if reference.contact:
            use.maximum = 2.0 * self.weight * min(1.0, TOUCH + (t - self._landed[side]) / LOADING)
        else:
            pose = self.body.feet[side].frame_pose(reference.pose)
            self._swing[side].track(pose, reference.velocity, reference.acceleration)
