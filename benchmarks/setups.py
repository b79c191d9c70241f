"""The setup of the benchmarks: robots, end effectors, random states, functions."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

import kinodyn as kd
from kinodyn.description.types import Description, Inertia, Joint, Link

Array = NDArray[np.float64]

ENDS, FRAMES, JACOBIAN = "poses of end effectors", "poses of all frames", "Jacobian of one frame"
COM, MASS, INVERSE, FORWARD = "centre of mass", "mass matrix", "inverse dynamics", "forward dynamics"
D_INVERSE, D_FORWARD = "derivatives of inverse dynamics", "derivatives of forward dynamics"

# Each function and its arguments.
FUNCTIONS: dict[str, tuple[str, ...]] = {
    ENDS: ("q",),
    FRAMES: ("q",),
    JACOBIAN: ("q",),
    COM: ("q",),
    INVERSE: ("q", "v", "a"),
    MASS: ("q",),
    FORWARD: ("q", "v", "tau"),
    D_INVERSE: ("q", "v", "a"),
    D_FORWARD: ("q", "v", "tau"),
}

# End effectors of robots whose description names none; the Jacobian is that of the first.
END_EFFECTORS = {
    "talos": ("gripper_left_base_link", "gripper_right_base_link", "left_sole_link", "right_sole_link", "head_2_link"),
    "g1": ("left_rubber_hand", "right_rubber_hand", "left_ankle_roll_link", "right_ankle_roll_link", "head_link"),
}


@dataclass(frozen=True)
class Setup:
    """A robot with its random states: every array is `(batch, ...)`."""

    name: str
    robot: kd.Robot
    ends: tuple[str, ...]
    states: dict[str, Array]

    @property
    def hand(self) -> str:
        return self.ends[0]

    @property
    def floating(self) -> bool:
        return self.robot.base == "floating"

    @property
    def size(self) -> int:
        return len(self.states["q"])

    def first(self, count: int) -> Setup:
        """Return a copy with the first states only."""
        return replace(self, states={name: array[:count].copy() for name, array in self.states.items()})

    def parts(self, function: str) -> tuple[str, ...]:
        """Return the names of the arguments of `function`."""
        return FUNCTIONS[function]

    def columns(self, function: str) -> list[Array]:
        """Return the arguments of `function`."""
        return [self.states[name] for name in FUNCTIONS[function]]


def named(name: str, batch: int) -> Setup:
    """Load a robot by name, without joint damping, which Pinocchio's functions do not include."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kd.DescriptionWarning)
        robot = kd.load(name).replace(damping=0.0)
    ends = END_EFFECTORS.get(name) or tuple(robot.description.end_effectors.values())
    return Setup(name, robot, ends, random_states(robot, batch))


def chain(joints: int, batch: int) -> Setup:
    """Return a serial chain of revolute joints about x, y and z in turn."""
    inertia = Inertia(1.0, np.array([0.0, 0.0, 0.1]), np.diag([0.01, 0.01, 0.002]))
    T_parent_child = np.eye(4)
    T_parent_child[2, 3] = 0.2
    description = Description(
        name=f"chain of {joints}",
        links=tuple(Link(f"link_{i}", inertia) for i in range(joints + 1)),
        joints=tuple(
            Joint(
                f"joint_{i}",
                "revolute",
                f"link_{i}",
                f"link_{i + 1}",
                T_parent_child,
                np.eye(3)[i % 3],
                lower=-1.0,
                upper=1.0,
            )
            for i in range(joints)
        ),
    )
    robot = kd.Robot(description)
    return Setup(description.name, robot, (f"link_{joints}",), random_states(robot, batch))


def random_states(robot: kd.Robot, batch: int) -> dict[str, Array]:
    """Draw positions within the limits, and velocities, accelerations and torques from normal distributions."""
    rng = np.random.default_rng(0)
    v, a, tau = rng.normal(size=(3, batch, robot.nv))
    return {"q": robot.random(batch, seed=0), "v": v, "a": a, "tau": 10.0 * tau}
