"""Robots that stand, and the same quadratic program built by other means: NumPy, public functions, DAQP."""

from __future__ import annotations

import ctypes
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import daqp
import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.model.robot import Robot

NONE = 1e30
FEET = {
    "humanoid": ("left_sole", "right_sole"),
    "talos": ("left_sole_link", "right_sole_link"),
    "g1": ("left_ankle_roll_link", "right_ankle_roll_link"),
    "solo12": ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"),
    "panda": (),
}
HAND = {"humanoid": "left_palm", "talos": "gripper_left_base_link", "g1": "left_rubber_hand", "panda": "panda_hand_tcp"}
SOLE = {"humanoid": (0.125, 0.045, 0.0), "talos": (0.1, 0.06, 0.0), "g1": (0.08, 0.03, -0.03)}  # half sizes, height
STANCE = {"humanoid": "standing", "talos": "half_sitting", "solo12": "standing"}


@dataclass
class Scene:
    """A robot at a state, its contacts and its tasks."""

    robot: Robot
    q: Array
    v: Array
    contacts: list[kd.contact.Contact]
    tasks: list[Any]
    hand: str | None
    sole: tuple[float, float, float] | None
    settings: dict[str, Any] = field(default_factory=dict)

    def controller(self, **more: Any) -> kd.control.InverseDynamicsQP:
        return kd.control.InverseDynamicsQP(self.robot, self.tasks, contacts=self.contacts, **{**self.settings, **more})

    def state(self) -> kd.State:
        return kd.State(self.robot, self.q, self.v)


def corners(sole: tuple[float, float, float]) -> Array:
    x, y, z = sole
    return np.array([[x, y, z], [x, -y, z], [-x, -y, z], [-x, y, z]])


def load(name: str) -> tuple[Robot, Array]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kd.DescriptionWarning)
        robot = kd.load(name, base="fixed" if name == "panda" else "floating")
    if name in STANCE:
        return robot, robot.configuration(STANCE[name])
    q = robot.neutral()
    if name == "g1":
        for side in ("left", "right"):
            for joint, angle in (("hip_pitch", -0.3), ("knee", 0.6), ("ankle_pitch", -0.3)):
                q[robot.joint(f"{side}_{joint}_joint").q] = angle
    else:
        q = 0.5 * (robot.limits.lower + robot.limits.upper)
    return robot, q


def build(name: str, seed: int | None = None, speed: float = 0.3) -> Scene:
    """Stand the robot still, or near its stance in random motion, feet flat on ground that fits them."""
    robot, q = load(name)
    v = np.zeros(robot.nv)
    rng = np.random.default_rng(seed)
    if seed is not None:
        q = robot.integrate(q, 0.1 * rng.normal(size=robot.nv))
        v = speed * rng.normal(size=robot.nv)
    sole = SOLE.get(name)
    contacts = []
    for foot in FEET[name]:
        up = kd.kinematics.pose(robot, q, foot)[:3, 2]
        more: dict[str, Any] = {"corners": corners(sole)} if sole else {"kind": "point"}
        contacts.append(kd.contact.Contact(foot, normal=up if sole else (0, 0, 1), friction=0.8, **more))
    tasks: list[Any] = [kd.tasks.PostureTask(q, weights=0.3, priority=3)]
    if robot.base == "floating":
        tasks.append(kd.tasks.ComTask(kd.kinematics.com(robot, q), weights=10.0, priority=1))
        tasks.append(kd.tasks.MomentumTask(weights=(0, 0, 0, 1, 1, 1), priority=2))
    if name in HAND:
        tasks.append(kd.tasks.FrameTask(HAND[name], kd.kinematics.pose(robot, q, HAND[name]), priority=2))
    return Scene(robot, q, v, contacts, tasks, HAND.get(name), sole)


@pytest.fixture
def scene() -> Callable[..., Scene]:
    return build


def desired(robot: Robot, task: Any, q: Array, v: Array) -> tuple[Array, Array, Array]:
    """Return J, the acceleration that J a should be, and weights."""
    stiffness, damping = task.gains
    still = np.zeros(robot.nv)
    if isinstance(task, kd.tasks.MomentumTask):
        A, h = kd.centroidal.momentum_matrix(robot, q), kd.centroidal.momentum(robot, q, v)
        rate = np.zeros(6) if task.velocity is None else task.velocity
        drift = kd.centroidal.momentum_rate(robot, q, v, still)
        return A, rate + damping * (task.target - h) - drift, task.row_weights(robot)
    if isinstance(task, kd.tasks.FrameTask):
        J, e, de, dde = moving_logarithm(robot, task, q, v)
        return J, dde + damping * de + stiffness * e, task.row_weights(robot)
    if isinstance(task, kd.tasks.ComTask):
        J, error = kd.kinematics.com_jacobian(robot, q), task.target - kd.kinematics.com(robot, q)
        drift = kd.centroidal.momentum_rate(robot, q, v, still)[:3] / robot.mass
    else:
        J, error, drift = np.eye(robot.nv), robot.difference(q, task.target), still
    rate, gain = (np.zeros(len(error)) if value is None else value for value in (task.velocity, task.acceleration))
    return J, gain + damping * (rate - J @ v) + stiffness * error - drift, task.row_weights(robot)


def moving_logarithm(robot: Robot, task: Any, q: Array, v: Array) -> tuple[Array, Array, Array, Array]:
    """Return the Jacobian of e = log(T^-1 T_target), e, de/dt and d2e/dt2 at joint accelerations of zero."""
    T, V = kd.kinematics.pose(robot, q, task.frame), kd.kinematics.velocity(robot, q, v, task.frame)
    R, drift = T[:3, :3], kd.kinematics.acceleration(robot, q, v, np.zeros(robot.nv), task.frame)
    U, A = (np.zeros(6) if value is None else value for value in (task.velocity, task.acceleration))
    e = kd.spatial.log(np.linalg.inv(T) @ task.target)
    back = np.kron(np.eye(2), R.T)  # the axes of the frame
    arm = T[:3, 3] - task.target[:3, 3]
    # twist of the target less that of the frame, at the frame's origin, and its rate in the frame's axes
    t = np.concatenate([U[:3] + np.cross(U[3:], arm), U[3:]])
    dt = np.concatenate([A[:3] + np.cross(A[3:], arm) + np.cross(U[3:], V[:3] - U[:3]), A[3:]]) - drift
    dt -= np.concatenate([np.cross(V[3:], (t - V)[:3]), np.cross(V[3:], (t - V)[3:])])
    inverse = kd.spatial.left_jacobian_inverse
    de = inverse(e) @ back @ (t - V)
    h = 1e-4
    turning = (8 * (inverse(e + h * de) - inverse(e - h * de)) - inverse(e + 2 * h * de) + inverse(e - 2 * h * de)) / (
        12 * h
    )
    J = inverse(e) @ back @ kd.kinematics.jacobian(robot, q, task.frame)
    return J, e, de, inverse(e) @ back @ dt + turning @ back @ (t - V)


@dataclass
class Program:
    """Least of x H x / 2 + g x with lower <= A x <= upper, x = (a, forces in units of weight and of sole)."""

    H: Array
    g: Array
    A: Array
    lower: Array
    upper: Array

    def cost(self, x: Array) -> float:
        return float(0.5 * x @ self.H @ x + self.g @ x)

    def solve(self) -> tuple[Array, int]:
        sense = np.where(self.upper - self.lower < 1e-12, 5, 0).astype(ctypes.c_int)
        n = len(self.g)
        blank = np.full(n, NONE)
        upper, lower = np.concatenate([blank, self.upper]), np.concatenate([-blank, self.lower])
        sense = np.concatenate([np.zeros(n, dtype=ctypes.c_int), sense])
        x, _, flag, _ = daqp.solve(
            self.H, self.g, self.A, upper, lower, sense, primal_tol=1e-9, dual_tol=1e-12, progress_tol=1e-14
        )
        return x, int(flag)


class ReferenceController:
    """The same program as the controller's, made another way: wrench cones of rectangles in closed form."""

    def __init__(self, scene: Scene, weight: float = 1e-3, force: float = 1e-2) -> None:
        self.scene, self.weight, self.force = scene, weight, force
        self.unit = 9.81 * scene.robot.mass
        robot, q, v = scene.robot, scene.q, scene.v
        self.rows, self.wanted, self.cones, self.scale, self.moves = [], [], [], [], []
        for contact in scene.contacts:
            self._touch(robot, q, v, contact)

    def _touch(self, robot: Robot, q: Array, v: Array, contact: kd.contact.Contact) -> None:
        R = kd.kinematics.pose(robot, q, contact.frame)[:3, :3]
        middle = contact.point if contact.corners is None else contact.corners.mean(axis=0)
        r = R @ middle
        J = kd.kinematics.jacobian(robot, q, contact.frame)
        drift = kd.kinematics.acceleration(robot, q, v, np.zeros(robot.nv), contact.frame)
        w = J[3:] @ v
        linear = J[:3] - np.cross(r, J[3:], axisb=0).T
        at = drift[:3] + np.cross(drift[3:], r) + np.cross(w, np.cross(w, r))
        E = axes(R, contact.normal)
        mu = contact.friction / np.sqrt(2)
        rows, need = E.T @ linear, -E.T @ at
        if contact.corners is None:
            cone, scale = pyramid(mu), np.ones(3)
        else:
            rows, need = np.concatenate([rows, E.T @ J[3:]]), np.concatenate([need, -E.T @ drift[3:]])
            assert self.scene.sole is not None
            x, y, _ = self.scene.sole
            length = float(np.hypot(x, y))
            scale = np.array([1, 1, 1, length, length, length])
            cone = rectangle(mu, x, y) * scale
        self.moves.append((E, r, rows))
        self.rows.append(rows)
        self.wanted.append(need)
        self.cones.append(cone)
        self.scale.append(scale)

    def program(self, effort: Array, largest: Array, tasks: list[Any] | None = None) -> Program:
        robot, q, v = self.scene.robot, self.scene.q, self.scene.v
        nv, nf = robot.nv, sum(len(rows) for rows in self.rows)
        n = nv + nf
        H = np.diag([self.weight**2] * nv + [self.force**2] * nf)
        g = np.zeros(n)
        for task in self.scene.tasks if tasks is None else tasks:
            J, want, weights = desired(robot, task, q, v)
            A = np.hstack([weights[:, None] * J, np.zeros((len(want), nf))])
            H += A.T @ A
            g -= A.T @ (weights * want)
        J = np.concatenate([np.zeros((0, nv)), *self.rows])
        units = np.concatenate([np.zeros(0), *self.scale])
        M, h = kd.dynamics.mass_matrix(robot, q), kd.dynamics.bias(robot, q, v)
        torque = np.hstack([M / self.unit, -(J * units[:, None]).T]) if nf else M / self.unit
        free = 6 if robot.base == "floating" else 0
        most = np.where(np.arange(nv) < free, 0.0, effort)
        box = np.hstack([np.eye(nv), np.zeros((nv, nf))])[free:]
        still = np.hstack([J, np.zeros((nf, nf))])
        wanted = np.concatenate([np.zeros(0), *self.wanted])
        cones = np.zeros((sum(len(cone) for cone in self.cones), n))
        row, column = 0, nv
        for cone in self.cones:
            cones[row : row + len(cone), column : column + cone.shape[1]] = cone
            row, column = row + len(cone), column + cone.shape[1]
        A = np.concatenate([torque, box, still, cones])
        below, above = (-most - h) / self.unit, (most - h) / self.unit
        lower = np.concatenate([below, -largest[free:], wanted, np.full(len(cones), -NONE)])
        upper = np.concatenate([above, largest[free:], wanted, np.zeros(len(cones))])
        return Program(H, g, A, np.maximum(lower, -NONE), np.minimum(upper, NONE))

    def x_of(self, result: kd.control.ControlResult) -> Array:
        """Write the controller's answer in the variables of the program."""
        parts = [result.a]
        for contact, (E, r, _), scale in zip(self.scene.contacts, self.moves, self.scale, strict=True):
            f = result.forces[contact.name]
            force = E.T @ f[:3]
            if contact.corners is not None:
                force = np.concatenate([force, E.T @ (f[3:] - np.cross(r, f[:3]))])
            parts.append(force / scale / self.unit)
        return np.concatenate(parts)


def axes(R: Array, z: Array) -> Array:
    """Make axes with this normal, and x along that of the frame unless it is upright."""
    own = z @ R
    k = 0 if abs(own[0]) <= 0.9 else 1 if abs(own[1]) < 0.9 else 2
    x = R[:, k] - (R[:, k] @ z) * z
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)


def pyramid(mu: float) -> Array:
    return np.array([[1, 0, -mu], [-1, 0, -mu], [0, 1, -mu], [0, -1, -mu]], dtype=float)


def rectangle(mu: float, x: float, y: float) -> Array:
    """Return the 16 rows of Caron, Pham, Nakamura 2015, equations 14 to 18, for half sizes x and y."""
    rows = [[1, 0, -mu, 0, 0, 0], [-1, 0, -mu, 0, 0, 0], [0, 1, -mu, 0, 0, 0], [0, -1, -mu, 0, 0, 0]]
    rows += [[0, 0, -y, 1, 0, 0], [0, 0, -y, -1, 0, 0], [0, 0, -x, 0, 1, 0], [0, 0, -x, 0, -1, 0]]
    for s in (1, -1):
        for t in (1, -1):
            rows.append([s * y, t * x, -mu * (x + y), -s * mu, -t * mu, -1])
            rows.append([s * y, t * x, -mu * (x + y), s * mu, t * mu, 1])
    return np.array(rows, dtype=float)


@pytest.fixture
def reference() -> Callable[..., ReferenceController]:
    return ReferenceController


@pytest.fixture
def desired_of() -> Callable[..., tuple[Array, Array, Array]]:
    return desired
