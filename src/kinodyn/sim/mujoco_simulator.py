"""MuJoCo behind the protocol `sim.Simulator`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import mujoco as mj
import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import known_names, positive
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.model import convert
from kinodyn.model.robot import Robot
from kinodyn.sim.common import cross
from kinodyn.sim.imu import Imu
from kinodyn.sim.mujoco_build import FootContacts, simulated_model
from kinodyn.sim.mujoco_model import body_name
from kinodyn.sim.mujoco_settings import settings_of
from kinodyn.sim.mujoco_state import ContactWrenches, StateReader
from kinodyn.sim.protocol import Diverged, Simulator
from kinodyn.sim.terrain_mesh import terrain_mesh

MAX_TORQUE = 1e10  # [N m or N] MuJoCo replaces larger ones by 0
_BAD = [
    int(kind) for kind in (mj.mjtWarning.mjWARN_BADQPOS, mj.mjtWarning.mjWARN_BADQVEL, mj.mjtWarning.mjWARN_BADQACC)
]


@displayed
class MujocoSimulator(Simulator):
    """Simulates a robot in MuJoCo step by step, in kinodyn's conventions.

    A robot that was read from an MJCF file is simulated as that file describes it, with its geoms, contact filters,
    constraints and springs; only the solver's options, the ground and the actuators are replaced. Any other robot is
    exported by `to_mujoco`.

    Parameters
    ----------
    robot
    frames
        Frames whose contact forces are reported, such as soles: the sum over all contacts of the link that carries the
        frame. None reports every link in contact, by the name of the link.
    sensors
        Frames with a force-torque sensor between the link that carries the frame and its parent.
    feet
        Soles for feet whose own shapes do not collide with the ground, and the stance in which no links overlap.
    max_rate
        Velocity above which a run is stopped as diverged [rad/s or m/s].
    settings
        Fields of `sim.MujocoSettings`: dt, integrator, contacts, floor, friction, mass_scale, friction_scale, ...

    Attributes
    ----------
    model, data : mujoco.MjModel, mujoco.MjData
        MuJoCo's own model and state.
    overlapping : tuple of (str, str)
        Pairs of links that overlap in the stance of `feet` and therefore do not collide.

    Examples
    --------
    >>> import kinodyn as kd
    >>> robot = kd.load("humanoid")
    >>> simulator = kd.sim.MujocoSimulator(robot, frames=["left_sole", "right_sole"])
    >>> simulator.reset(robot.configuration("standing"))
    >>> simulator.step(0.0 * simulator.v)
    >>> simulator.contact_forces()["left_sole"].shape
    (6,)
    """

    @check_types
    def __init__(
        self,
        robot: Robot,
        *,
        frames: Sequence[str] | None = None,
        sensors: Sequence[str] = (),
        feet: FootContacts | None = None,
        max_rate: float = 1e4,
        **settings: Any,
    ) -> None:
        self.settings = settings_of(settings)
        frames = None if frames is None else known_names("frames", frames, "frame", robot.frame_names)
        sensors = known_names("sensors", sensors, "frame", robot.frame_names)
        self.robot, self.dt, self.time = robot, self.settings.dt, 0.0
        self._simulated = simulated_model(robot, self.settings, tuple(sensors), feet)
        self.model, self.overlapping = self._simulated.model, self._simulated.overlapping
        self.data = mj.MjData(self.model)
        self._converter = convert.mujoco(robot, self.model)
        self._sensors, self._max_rate = tuple(sensors), positive("max_rate", max_rate)
        motors = [self.model.actuator(k).name for k in range(self.model.nu)]
        self._motor_dofs = np.array([robot.joint(name).v.start for name in motors], dtype=int)
        self._other_dofs = np.setdiff1d(np.arange(robot.nv), self._motor_dofs)
        self._frames = tuple(frames or ())
        self._sites = None if frames is None else np.array([self._simulated.site(name) for name in frames], dtype=int)
        self._read, self._forces = StateReader(robot, self._converter), dict[str, Array]()
        self._imu_index = self._imu_addresses()
        self._imu_sum, self._imu_count = np.zeros(len(self._imu_index)), 0
        self._warnings = self.data.warning.number  # a view
        stiffness = (self.model.jnt_stiffness, self.model.tendon_stiffness)
        nonlinear = (self.model.jnt_stiffnesspoly, self.model.tendon_stiffnesspoly)
        self._has_springs = any(values.any() for values in (*stiffness, *nonlinear))
        self._q, self._v = robot.neutral(), np.zeros(robot.nv)
        self.reset()

    @property
    def terrain(self) -> dict[str, Array]:
        """Uneven ground as triangles: "vertices" (n, 3) [m] and "faces" (m, 3); empty where it is level."""
        return terrain_mesh(self.settings.ground)

    @property
    def q(self) -> Array:
        return self._q

    @property
    def v(self) -> Array:
        return self._v

    def reset(self, q: ArrayLike | None = None, v: ArrayLike | None = None) -> None:
        q = self.robot.neutral() if q is None else np.array(q, dtype=float)
        v = np.zeros(self.robot.nv) if v is None else np.array(v, dtype=float)
        if q.shape != (self.robot.nq,) or v.shape != (self.robot.nv,):
            raise InputError(
                f"MuJoCo simulates one robot at a time: q0 must be ({self.robot.nq},) and v0 ({self.robot.nv},), "
                f"got {q.shape} and {v.shape}"
            )
        qpos, qvel = self._converter.q_to(q), self._converter.v_to(q, v)
        mj.mj_resetData(self.model, self.data)
        self.data.qpos[:], self.data.qvel[:] = qpos, qvel
        mj.mj_forward(self.model, self.data)
        self._q, self._v, self.time = q, v, 0.0
        self._forces = {}
        self._imu_sum[:], self._imu_count = 0.0, 0

    def step(self, tau: ArrayLike, wrenches: Mapping[str, ArrayLike] | None = None, *, steps: int = 1) -> None:
        torques = np.asarray(tau, dtype=float)
        if torques.shape != (self.robot.nv,) or not np.isfinite(torques).all():
            raise InputError(f"tau must be ({self.robot.nv},) finite numbers, got shape {torques.shape}")
        if np.abs(torques).max(initial=0.0) > MAX_TORQUE:
            dof = int(np.argmax(np.abs(torques)))
            raise Diverged(self.time, self._joint_of(dof), f"its torque is {torques[dof]:.3g}, which MuJoCo ignores")
        model, data = self.model, self.data
        data.ctrl[:] = torques[self._motor_dofs]
        data.qfrc_applied[:] = 0.0
        if torques[self._other_dofs].any():  # ball and planar joints have no motors
            others = torques.copy()
            others[self._motor_dofs] = 0.0
            data.qfrc_applied[:] = self._converter.tau_to(self._q, others)
        for _ in range(steps):
            if wrenches:
                self._apply(wrenches)
            mj.mj_step(model, data)
            self._require_valid()
            self._imu_sum += data.sensordata[self._imu_index]
            self.time += self.dt
        self._imu_count += steps
        if wrenches:
            data.xfrc_applied[:] = 0.0
        self._q, self._v = self._read(data)
        self._forces = {}

    def contact_forces(self) -> dict[str, Array]:
        """Return the contact wrench (6,) on each frame over the last step, "local_world_aligned".

        With `frames` exactly those, otherwise the links in contact.
        """
        if not self._forces:
            self._forces = self._measured_forces()
        return dict(self._forces)

    def _measured_forces(self) -> dict[str, Array]:
        model, data = self.model, self.data
        contacts = ContactWrenches(model, data)
        if self._sites is None:
            touching = sorted({int(body) for body in contacts.bodies.ravel() if body > 0})
            links = {body_name(self.robot.description, "world"): "world"}
            names = [links.get(model.body(body).name, model.body(body).name) for body in touching]
            bodies = np.array(touching, dtype=int)
            origins = data.xpos[bodies]
        else:
            names, bodies = list(self._frames), model.body_weldid[model.site_bodyid[self._sites]]
            origins = data.site_xpos[self._sites]
        return dict(zip(names, contacts.on(bodies, origins), strict=True))

    def elastic_torques(self) -> Array | None:
        """Return the torques (nv,) of springs of joints and tendons in the last physics step; None without any.

        Those of a MJCF file are simulated, but they are not part of the robot's model.
        """
        return self._converter.tau_from(self._q, self.data.qfrc_spring) if self._has_springs else None

    def imu(self) -> Imu:
        """Return the reading of the base's IMU in the last physics step; the robot must have a floating base."""
        if self.robot.base != "floating":
            raise InputError(f"robot {self.robot.name!r} has a fixed base, which carries no IMU")
        reading = self.data.sensordata[self._imu_index]
        return Imu(reading[:3], reading[3:])

    def read_imu(self) -> Imu:
        """Return the mean reading of the base's IMU since the previous call; the last one if nothing moved."""
        if self._imu_count == 0:
            return self.imu()
        mean = self._imu_sum / self._imu_count
        self._imu_sum[:], self._imu_count = 0.0, 0
        return Imu(mean[:3], mean[3:])

    def _imu_addresses(self) -> NDArray[np.int_]:
        """Find the accelerometer and the gyro in `sensordata`: (6,), or (0,) on a fixed base."""
        names = ("accelerometer", "gyro") if self.robot.base == "floating" else ()
        starts = [int(self.model.sensor(name).adr[0]) for name in names]
        return np.array([start + k for start in starts for k in range(3)], dtype=int)

    def wrench_sensor(self, frame: str) -> Array:
        """Return the reading of a force-torque sensor.

        Parameters
        ----------
        frame
            One of `sensors`.

        Returns
        -------
        (6,)
            Wrench on the link of the frame from its parent, in frame axes [N, N m].
        """
        if frame not in self._sensors:
            raise InputError(f"frame {frame!r} has no sensor; sensors= lists {', '.join(self._sensors) or 'none'}")
        parts = [self.data.sensor(f"{frame} {what}").data for what in ("force", "torque")]
        return np.concatenate(parts)

    def _apply(self, wrenches: Mapping[str, ArrayLike]) -> None:
        """Set external wrenches, which MuJoCo applies at the centres of mass of bodies."""
        mj.mj_kinematics(self.model, self.data)  # sites still have the poses of the start of the previous step
        self.data.xfrc_applied[:] = 0.0
        for name, given in wrenches.items():
            self.robot.frame_index(name)
            site = self._simulated.site(name)
            wrench = np.asarray(given, dtype=float)
            if wrench.shape != (6,) or not np.isfinite(wrench).all():
                raise InputError(f"wrenches[{name!r}] must be (6,) finite numbers, got shape {wrench.shape}")
            body = int(self.model.site_bodyid[site])
            arm = self.data.site_xpos[site] - self.data.xipos[body]
            self.data.xfrc_applied[body] += [*wrench[:3], *(wrench[3:] + cross(arm, wrench[:3]))]

    def _joint_of(self, dof: int) -> str:
        """Return the name of the joint that a v index belongs to."""
        return next(joint.name for joint in self.robot.joints if joint.v.start <= dof < joint.v.stop)

    def _require_valid(self) -> None:
        """Raise Diverged if MuJoCo found an invalid state (it then resets silently), or a joint is too fast."""
        data = self.data
        rates = np.abs(data.qvel)
        if not self._warnings[_BAD].any() and rates.max(initial=0.0) <= self._max_rate:
            return
        bad = next((kind for kind in _BAD if data.warning[kind].number > 0), None)
        if bad is not None:
            dof = int(data.warning[bad].lastinfo)
            reason = f"MuJoCo reports {mj.mjtWarning(bad).name} and resets"
        else:
            dof = int(np.argmax(np.nan_to_num(rates, nan=np.inf)))
            reason = f"its rate reached {rates[dof]:.3g}, above the {self._max_rate:.3g} that max_rate allows"
        joint = self.model.joint(int(self.model.dof_jntid[min(dof, self.model.nv - 1)])).name
        raise Diverged(self.time, joint, f"{reason}; a smaller dt, lower gains or softer contacts may help")
