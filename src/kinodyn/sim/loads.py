"""Boxes that a robot carries in MuJoCo."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import mujoco as mj
import numpy as np
from numpy.typing import ArrayLike

from kinodyn import kinematics
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array, MatrixLike
from kinodyn.checks import as_pose, positive, positive_vector, vector
from kinodyn.display import displayed
from kinodyn.errors import InputError, unknown_name
from kinodyn.model.robot import Robot
from kinodyn.sim.mujoco_shapes import placed
from kinodyn.spatial.poses import inverse_pose


@check_types
@displayed
@dataclass(frozen=True, eq=False)
class Load:
    """A box that frames of a robot hold rigidly: one hand, or both. It touches the ground, but not the robot.

    Attributes
    ----------
    mass : float
        Mass [kg], spread evenly over the box.
    size : (3,)
        Lengths along the axes of the box [m].
    grasps : mapping of frame -> (4, 4)
        Pose of the box, whose origin is its centre, in each frame that holds it.
    """

    mass: float
    size: ArrayLike
    grasps: Mapping[str, MatrixLike]

    def __post_init__(self) -> None:
        positive("mass of the load", self.mass)
        size = positive_vector("size of the load", self.size, 3)
        if not self.grasps:
            raise InputError("a load needs at least one frame that holds it")
        checked = {name: as_pose(T, f"grasp of {name!r}") for name, T in self.grasps.items()}
        object.__setattr__(self, "size", size)
        object.__setattr__(self, "grasps", checked)

    @classmethod
    @check_types
    def held(
        cls,
        robot: Robot,
        q: ArrayLike,
        frames: Sequence[str],
        mass: float,
        *,
        size: ArrayLike = (0.2, 0.3, 0.2),
        pose: MatrixLike | None = None,
    ) -> Load:
        """Make a load that frames hold at a configuration.

        Parameters
        ----------
        robot
        q
            Configuration (nq,).
        frames
            Frames that hold it.
        mass
            [kg]
        size
            Lengths (3,) of the box [m].
        pose
            T_world_box (4, 4) at that configuration; by default at the mean of the frames' origins, along the base.

        Returns
        -------
        Load
        """
        q = vector("q", q, robot.nq)
        T_world_frames = {name: kinematics.pose(robot, q, name) for name in frames}
        if pose is None:
            T_world_box = np.eye(4)
            T_world_box[:3, :3] = kinematics.pose(robot, q, robot.joints[0].child)[:3, :3]
            T_world_box[:3, 3] = np.mean([T[:3, 3] for T in T_world_frames.values()], axis=0)
        else:
            T_world_box = as_pose(pose, "pose of the load")
        return cls(mass, size, {name: inverse_pose(T) @ T_world_box for name, T in T_world_frames.items()})

    @property
    def inertia(self) -> Array:
        """Rotational inertia (3, 3) about its centre [kg m^2]."""
        squares = np.asarray(self.size) ** 2
        return np.asarray(np.diag(self.mass / 12.0 * (squares.sum() - squares)))

    @check_types
    def carried_by(self, robot: Robot) -> Robot:
        """Return the robot with the load as a payload: each frame that holds it carries an equal part.

        While the frames hold the box rigidly, the parts move as the box does: the sum is exact.

        Parameters
        ----------
        robot

        Returns
        -------
        Robot
        """
        share = 1.0 / len(self.grasps)
        for name, grasp in self.grasps.items():
            T = np.asarray(grasp)
            robot = robot.with_payload(
                name, share * self.mass, T[:3, 3], share * T[:3, :3] @ self.inertia @ T[:3, :3].T
            )
        return robot


def checked_loads(loads: object) -> tuple[Load, ...]:
    """Return loads as a tuple, or raise InputError."""
    found = tuple(loads) if isinstance(loads, Sequence) else (loads,)
    for load in found:
        if not isinstance(load, Load):
            raise InputError(f"loads must be sim.Load objects, got {load!r}")
    return found


def add_loads(spec: mj.MjSpec, loads: Sequence[Load], carriers: Mapping[str, tuple[Any, Array]]) -> None:
    """Add loads to a specification.

    Each frame carries an equal part of the mass in a separate body at the pose of the box; welds join the parts. No
    degrees of freedom are added.

    Parameters
    ----------
    spec
    loads
    carriers
        For each frame its body, and the pose (4, 4) of the frame in it.
    """
    for k, load in enumerate(loads):
        parts = []
        for name, grasp in load.grasps.items():
            if name not in carriers:
                raise unknown_name("frame that holds a load", name, list(carriers))
            body, T_body_frame = carriers[name]
            part = body.add_body(name=f"load {k} in {name}", **placed(T_body_frame @ np.asarray(grasp)))
            part.explicitinertial = True
            part.mass, part.ipos = load.mass / len(load.grasps), np.zeros(3)
            part.inertia = np.diag(load.inertia) / len(load.grasps)
            parts.append(part)
            if len(parts) == 1:
                size = 0.5 * np.asarray(load.size)
                part.add_geom(name=f"load {k}", type=mj.mjtGeom.mjGEOM_BOX, size=size, mass=0.0)
        _exclude_robot(spec, parts[0])
        for part in parts[1:]:
            _weld(spec, parts[0].name, part.name)


def _weld(spec: mj.MjSpec, first: str, second: str) -> None:
    data = np.zeros(mj.mjNEQDATA)
    data[6], data[10] = 1.0, 1.0  # no rotation between the two; torques count as forces do
    spec.add_equality(
        name=f"{first}, {second}",
        type=mj.mjtEq.mjEQ_WELD,
        objtype=mj.mjtObj.mjOBJ_BODY,
        name1=first,
        name2=second,
        data=data,
    )


def _exclude_robot(spec: mj.MjSpec, part: Any) -> None:
    """Exclude contacts of the box with the robot: what holds it touches it everywhere."""
    for body in spec.bodies:
        if body.name not in ("world", part.name):
            spec.add_exclude(bodyname1=part.name, bodyname2=body.name)
