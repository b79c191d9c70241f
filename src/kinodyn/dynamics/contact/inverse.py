"""Torques and contact forces for a wanted motion: M a + h = S^T tau + J^T f.

A free base has no motor: its six rows must be balanced by contact forces alone. What is left open, forces that press
contacts against each other, is settled by least squares, in closed form or, within friction cones and torque limits,
by a quadratic programme.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinodyn import dynamics as plain
from kinodyn import qp
from kinodyn.arrays import Array
from kinodyn.checks import broadcast, numbers
from kinodyn.dynamics.contact.cones import Cones
from kinodyn.dynamics.contact.constraints import Constraint, checked
from kinodyn.dynamics.contact.dynamics import jacobian
from kinodyn.dynamics.contact.forces import Forces
from kinodyn.errors import InputError, unknown_name
from kinodyn.model.robot import Robot

BALANCED = 1e-8  # share of the forces that meet in a row by which it may be off
FIRST = 1e6  # how much more a missing force counts than the forces that are there, where not all can be had


class Effort(NamedTuple):
    """What moves the robot as wanted, or as nearly as it can be.

    Attributes
    ----------
    tau : (..., nv)
        Torques, zero where there is no motor; within the limits, if there are any.
    forces : Forces
        Contact forces by name; within their friction cones, if those count.
    status : (...) str
        "solved"; "infeasible": motors and contacts cannot give what the motion needs; "failed": the solver did not
        find an answer that stands the test.
    residual : (..., nv)
        M a + h - S^T tau - J^T f: the generalised force that is missing. Zero but for rounding where "solved".
    limiting : (...) str
        What stands in the way where "infeasible", such as "left_sole slides; torque of left_knee"; else empty.
    """

    tau: Array
    forces: Forces
    status: NDArray[np.str_]
    residual: Array
    limiting: NDArray[np.str_]


def inverse(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    contacts: Sequence[Constraint],
    wrenches: dict[str, ArrayLike] | None = None,
    *,
    method: str = "least-norm",
    actuated: Sequence[str] | None = None,
    soles: Mapping[str, tuple[float, float]] | None = None,
    friction: bool = True,
    sides: int = 8,
    torque_limits: bool | ArrayLike = False,
    wished: Mapping[str, ArrayLike] | None = None,
    force_weights: ArrayLike = 1.0,
    torque_weights: ArrayLike = 0.0,
) -> Effort:
    """Compute torques (..., nv) and contact forces that give the acceleration a (..., nv).

    Of all that do, those with the least sum of force_weights (f - wished)^2 + torque_weights tau^2.

    Parameters
    ----------
    method
        "least-norm": in closed form; contacts may pull and slide. "qp": contacts push within their friction, and
        motors within their limits.
    actuated
        Joints with a motor; None: all but a floating base.
    soles
        Half lengths (x, y) [m] of rectangular surface contacts by name, in the x-y plane of their frame about their
        point. A QP with friction needs them to know which moments a surface can give.
    friction
        Whether friction limits forces in a QP. Pyramids with `sides` edges on the friction cone stand for the cone, so
        that forces are in the cone itself; surfaces have the 16 rows of `friction.wrench_cone`. Loops are free.
    torque_limits
        For a QP: True for those of the robot, or largest torques (nv,), inf for none; False: none.
    wished
        Forces by name of the contact, in the shapes of `Forces`, such as the push of a hand on a wall; others are 0.
    force_weights, torque_weights
        One number, or (rows,) in the order of `contact.jacobian`, above 0; one number, or (nv,), from 0 on.

    L. Sentis, "Synthesis and Control of Whole-Body Behaviors in Humanoid Systems", 2007, for internal forces;
    A. Herzog et al., "Momentum control with hierarchical inverse dynamics on a torque-controlled humanoid", 2016, for
    torques as a function of forces.

    Example
    -------
    >>> import numpy as np, kinodyn as kd
    >>> robot = kd.load("humanoid")
    >>> q, still = robot.configuration("standing"), np.zeros(robot.nv)
    >>> feet = [kd.contact.Contact("left_sole"), kd.contact.Contact("right_sole")]
    >>> tau, forces, status, *_ = kd.contact.inverse(robot, q, still, still, feet)
    >>> str(status), bool(np.isclose(forces["left_sole"][2], robot.mass * 9.81 / 2))
    ('solved', True)
    """
    given = checked(contacts)
    if method not in ("least-norm", "qp"):
        raise InputError(f'method must be "least-norm" or "qp", got {method!r}')
    if method == "least-norm" and not (torque_limits is False and soles is None):
        raise InputError('torque_limits and soles are for method="qp"; least norm knows no limits')
    needed = plain.inverse(robot, q, v, a, wrenches)
    J = jacobian(robot, q, given)
    motors = _motors(robot, actuated)
    wish = _wish(given, wished or {})
    J, needed, wish = broadcast((J, 2), (needed, 1), (wish, 1))
    cost = _Cost(J, needed, motors, wish, *_weights(force_weights, torque_weights, J.shape[-2], robot.nv))
    values = np.linalg.svd(J, compute_uv=False)
    rank = (values > 1e-9 * values.max(axis=-1, initial=0.0, keepdims=True)).sum(axis=-1)
    if method == "least-norm":
        f = cost.least(J, needed, motors)
        return _effort(robot, Forces(given, f, rank), J, needed, motors, np.full(robot.nv, np.inf))
    limits = _limits(robot, torque_limits)
    cones = Cones(robot, q, given, soles or {}, sides) if friction else None
    found = _Programmes(cost, J, needed, motors, limits, cones).solve(robot)
    effort = _effort(robot, Forces(given, found.f, rank), J, needed, motors, limits)
    status = np.where(found.status == "solved", effort.status, found.status)
    limiting = np.where(found.limiting == "", effort.limiting, found.limiting)
    return effort._replace(status=status, limiting=limiting)


class _Cost:
    """1/2 f'Pf - c'f: what forces cost, with the torques that they leave to motors."""

    def __init__(
        self, J: Array, needed: Array, motors: NDArray[np.bool_], wish: Array, forces: Array, torques: Array
    ) -> None:
        weighted = np.where(motors, torques, 0.0)
        Jt = np.swapaxes(J, -1, -2)
        self.P = np.eye(len(forces)) * forces + (J * weighted) @ Jt
        self.c = forces * wish + (J @ (weighted * needed)[..., None])[..., 0]

    def least(self, J: Array, needed: Array, motors: NDArray[np.bool_]) -> Array:
        """Minimise it under the rows that have no motor; least squares where these cannot be kept."""
        L = np.linalg.cholesky(self.P)
        B = np.swapaxes(J, -1, -2)[..., ~motors, :]
        f = np.linalg.solve(self.P, self.c[..., None])
        if B.shape[-2]:
            whitened = np.swapaxes(np.linalg.solve(L, np.swapaxes(B, -1, -2)), -1, -2)
            back = np.linalg.solve(np.swapaxes(L, -1, -2), np.linalg.pinv(whitened, rcond=1e-10))
            for _ in range(2):  # the second time for what rounding left
                f = f + back @ (needed[..., ~motors, None] - B @ f)
        return np.asarray(f[..., 0], dtype=np.float64)


class _Found(NamedTuple):
    f: Array
    status: NDArray[np.str_]
    limiting: NDArray[np.str_]


class _Programmes:
    """One quadratic programme for each state.

    Variables: contact forces f; torques follow from them.
    Objective: 1/2 f'Pf - c'f.
    Constraints: rows without a motor are balanced; forces in their cones; torques within limits.
    """

    def __init__(
        self, cost: _Cost, J: Array, needed: Array, motors: NDArray[np.bool_], limits: Array, cones: Cones | None
    ) -> None:
        self.cost, self.J, self.needed, self.cones = cost, J, needed, cones
        self.free = np.flatnonzero(~motors)
        self.limited = np.flatnonzero(motors & np.isfinite(limits))
        self.limits = limits[self.limited]

    def solve(self, robot: Robot) -> _Found:
        """Solve them one after the other."""
        batch = self.needed.shape[:-1]
        f = np.zeros((*batch, self.J.shape[-2]))
        status, limiting = np.empty(batch, dtype=object), np.empty(batch, dtype=object)
        cones = None if self.cones is None else np.broadcast_to(self.cones.rows, (*batch, *self.cones.rows.shape[-2:]))
        for index in np.ndindex(batch):
            cone = np.zeros((0, f.shape[-1])) if cones is None else cones[index]
            problem = self._problem(index, cone)
            answer = qp.solve(*problem)
            status[index], limiting[index] = answer.status, ""
            if answer.status == "infeasible":
                answer = qp.solve(*problem, soft=self._softness(index, problem[2], len(cone)))
                status[index] = "infeasible" if answer.solved else "failed"
                limiting[index] = self._words(robot, answer, len(cone), float(np.abs(self.needed[index]).max()))
            f[index] = answer.x
        return _Found(f, status.astype(np.str_), limiting.astype(np.str_))

    def _problem(self, index: tuple[int, ...], cone: Array) -> tuple[Array, Array, Array, Array, Array]:
        """Return H, g, A, lower and upper."""
        Jt, needed = self.J[index].T, self.needed[index]
        balance, torque = needed[self.free], needed[self.limited]
        rows = np.vstack([Jt[self.free], Jt[self.limited], cone])
        lower = np.concatenate([balance, torque - self.limits, np.full(len(cone), -np.inf)])
        upper = np.concatenate([balance, torque + self.limits, np.zeros(len(cone))])
        return self.cost.P[index], -self.cost.c[index], rows, lower, upper

    def _softness(self, index: tuple[int, ...], rows: Array, cone: int) -> Array:
        """Let balance and torques give way, and cones not: what is missing then is the least that can be missing."""
        weight = FIRST * float(np.diag(self.cost.P[index]).max()) / float(np.square(rows[: len(rows) - cone]).max())
        return np.concatenate([np.full(len(rows) - cone, weight), np.full(cone, np.inf)])

    def _words(self, robot: Robot, answer: qp.QPResult, cone: int, load: float) -> str:
        start = len(answer.multipliers) - cone
        pushed = np.abs(answer.multipliers)
        held = pushed > 1e-3 * pushed.max(initial=0.0)
        words = [] if self.cones is None else self.cones.words(held[start:], answer.x, load)
        over = self.limited[np.abs(answer.outside[len(self.free) : start]) > BALANCED * self.limits]
        return "; ".join([*words, *(f"torque of {_row_names(robot)[i]}" for i in over)])


def _effort(robot: Robot, forces: Forces, J: Array, needed: Array, motors: NDArray[np.bool_], limits: Array) -> Effort:
    """Give motors what contact forces leave, and say what is missing."""
    pushed = J * forces.vector[..., None]
    left = needed - pushed.sum(axis=-2)
    tau = np.where(motors, np.clip(left, -limits, limits), 0.0)
    residual = left - tau
    size = np.abs(needed).max(axis=-1, initial=0.0) + np.abs(pushed).sum(axis=-2).max(axis=-1, initial=0.0)
    missing = np.abs(residual) > BALANCED * size[..., None]
    names = _row_names(robot)
    limiting = np.empty(missing.shape[:-1], dtype=object)
    for index in np.ndindex(limiting.shape):
        rows = np.flatnonzero(missing[index])
        limiting[index] = f"nothing gives the force in {', '.join(names[i] for i in rows)}" if len(rows) else ""
    status = np.where(missing.any(axis=-1), "infeasible", "solved")
    return Effort(tau, forces, status, residual, limiting.astype(np.str_))


def _row_names(robot: Robot) -> list[str]:
    """Name each entry of v by its joint; those of a floating base by their directions."""
    names = [joint.name for joint in robot.joints for _ in range(joint.v.stop - joint.v.start)]
    return [f"base {d}" for d in ("x", "y", "z", "rx", "ry", "rz")] + names[6:] if robot.base == "floating" else names


def _motors(robot: Robot, actuated: Sequence[str] | None) -> NDArray[np.bool_]:
    mask = np.ones(robot.nv, dtype=bool)
    if actuated is None:
        mask[: 6 if robot.base == "floating" else 0] = False
        return mask
    if isinstance(actuated, str):
        raise InputError(f"actuated must be a list of joint names, got the single name {actuated!r}; put it in a list")
    mask[:] = False
    for name in actuated:
        if name not in robot.joint_names:
            raise unknown_name("joint", name, robot.joint_names)
        mask[robot.joint(name).v] = True
    return mask


def _wish(contacts: Sequence[Constraint], wished: Mapping[str, ArrayLike]) -> Array:
    """Put wished forces in the order of the rows (..., rows)."""
    names = [contact.name for contact in contacts]
    for name in wished:
        if name not in names:
            raise unknown_name("contact in wished", name, names)
    parts: list[Array] = []
    for contact in contacts:
        shape = contact.shape()
        value = numbers(f"wished force of {contact.name!r}", wished.get(contact.name, np.zeros(shape)), *shape)
        parts.append(value.reshape(*value.shape[: value.ndim - len(shape)], -1))
    return np.concatenate(broadcast(*((part, 1) for part in parts)), axis=-1)


def _weights(forces: ArrayLike, torques: ArrayLike, rows: int, nv: int) -> tuple[Array, Array]:
    result = []
    for what, value, size, least in (
        ("force_weights", forces, rows, "above 0"),
        ("torque_weights", torques, nv, "from 0 on"),
    ):
        weights = np.asarray(value, dtype=float)
        weights = np.full(size, float(weights)) if weights.ndim == 0 else weights
        enough = (weights > 0) if least == "above 0" else (weights >= 0)
        if weights.shape != (size,) or not (enough & np.isfinite(weights)).all():
            raise InputError(f"{what} must be one number or ({size},), {least}, got {value!r}")
        result.append(weights)
    return result[0], result[1]


def _limits(robot: Robot, torque_limits: bool | ArrayLike) -> Array:
    if isinstance(torque_limits, bool | np.bool_):
        return robot.limits.effort if torque_limits else np.full(robot.nv, np.inf)
    limits = np.asarray(torque_limits, dtype=float)
    if limits.shape != (robot.nv,) or not (limits >= 0).all():
        raise InputError(f"torque_limits must be True, False or largest torques ({robot.nv},), got {torque_limits!r}")
    return limits
