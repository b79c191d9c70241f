"""Inverse dynamics under contacts: torques and contact forces for a desired motion, M a + h = S^T tau + J^T f.

A floating base has no motor: contact forces alone balance its six rows. Internal forces are chosen by least squares, in
closed form or, within friction cones and torque limits, by a quadratic program (QP).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinodyn import dynamics as plain
from kinodyn import qp
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import broadcast, known_names, numbers, one_of
from kinodyn.display import displayed
from kinodyn.dynamics.contact.cones import Cones
from kinodyn.dynamics.contact.constraints import Constraint, checked
from kinodyn.dynamics.contact.dynamics import jacobian
from kinodyn.dynamics.contact.forces import Forces
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot

BALANCE_TOLERANCE = 1e-8  # largest residual of a balanced row, as a fraction of the forces in it
PRIORITY = 1e6  # weight of a residual compared to that of forces, where the motion is infeasible


@displayed
class Effort(NamedTuple):
    """Torques and contact forces for a desired motion.

    Attributes
    ----------
    tau : (..., nv)
        Torques, zero where there is no motor; within torque limits, if any.
    forces : Forces
        Contact forces by name; within friction cones, if any.
    status : (...) str
        "solved"; "infeasible": motors and contacts cannot produce the motion, and the residual is as small as possible;
        "failed": the QP was not solved.
    residual : (..., nv)
        M a + h - S^T tau - J^T f: the missing generalised force; rounding where "solved".
    limiting : (...) str
        What limits an infeasible motion, such as "left_sole slides; torque of left_knee"; else empty.
    """

    tau: Array
    forces: Forces
    status: NDArray[np.str_]
    residual: Array
    limiting: NDArray[np.str_]


@check_types
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
    desired_forces: Mapping[str, ArrayLike] | None = None,
    force_weights: ArrayLike = 1.0,
    torque_weights: ArrayLike = 0.0,
) -> Effort:
    """Compute torques and contact forces for an acceleration.

    They minimise force_weights (f - desired_forces)^2 + torque_weights tau^2.

    Parameters
    ----------
    robot : Robot
    q : (..., nq)
    v, a : (..., nv)
    contacts : sequence of Constraint
    wrenches : dict of frame -> (..., 6), optional
        External wrenches [N, N m], in world axes about the origin of the frame.
    method : "least-norm" or "qp"
        "least-norm": closed form; contacts may pull and slide. "qp": within friction and torque limits.
    actuated : sequence of str, optional
        Joints with a motor; by default all but the floating base.
    soles : mapping of name -> (float, float), optional
        Half lengths (x, y) [m] of rectangular surface contacts, in the x-y plane of their frame about their point. A QP
        with friction needs them for the moments of a surface.
    friction : bool
        Whether friction limits forces in a QP: inner pyramids for points and corners, `friction.wrench_cone` for
        surfaces. Loops are not limited.
    sides : int
        Number of sides of the pyramids.
    torque_limits : bool or (nv,)
        For a QP: True for those of the robot, or largest torques, inf for none.
    desired_forces : mapping of name -> array, optional
        Desired contact forces in the shapes of `Forces`, such as the push of a hand on a wall; by default 0.
    force_weights : float or (rows,)
        Above 0, in the order of `contact.jacobian`.
    torque_weights : float or (nv,)
        0 or more.

    Returns
    -------
    Effort

    Notes
    -----
    L. Sentis, "Synthesis and Control of Whole-Body Behaviors in Humanoid Systems", 2007, for internal forces;
    A. Herzog et al., "Momentum control with hierarchical inverse dynamics on a torque-controlled humanoid", 2016, for
    torques as a function of forces.

    Examples
    --------
    >>> import numpy as np, kinodyn as kd
    >>> robot = kd.load("humanoid")
    >>> q, still = robot.configuration("standing"), np.zeros(robot.nv)
    >>> feet = [kd.contact.Contact("left_sole"), kd.contact.Contact("right_sole")]
    >>> tau, forces, status, *_ = kd.contact.inverse(robot, q, still, still, feet)
    >>> str(status), bool(np.isclose(forces["left_sole"][2], robot.mass * 9.81 / 2))
    ('solved', True)
    """
    given = checked(contacts)
    one_of("method", method, ("least-norm", "qp"))
    if method == "least-norm" and not (torque_limits is False and soles is None):
        raise InputError('torque_limits and soles are for method="qp"; least-norm has no limits')
    needed = plain.inverse(robot, q, v, a, wrenches)
    J = jacobian(robot, q, given)
    motors = _motors(robot, actuated)
    desired = _desired(given, desired_forces or {})
    J, needed, desired = broadcast((J, 2), (needed, 1), (desired, 1))
    cost = _Cost(J, needed, motors, desired, *_weights(force_weights, torque_weights, J.shape[-2], robot.nv))
    values = np.linalg.svd(J, compute_uv=False)
    rank = (values > 1e-9 * values.max(axis=-1, initial=0.0, keepdims=True)).sum(axis=-1)
    if method == "least-norm":
        f = cost.least(J, needed, motors)
        return _effort(robot, Forces(given, f, rank), J, needed, motors, np.full(robot.nv, np.inf))
    limits = _limits(robot, torque_limits)
    cones = Cones(robot, q, given, soles or {}, sides) if friction else None
    found = _Programs(cost, J, needed, motors, limits, cones).solve(robot)
    effort = _effort(robot, Forces(given, found.f, rank), J, needed, motors, limits)
    status = np.where(found.status == "solved", effort.status, found.status)
    limiting = np.where(found.limiting == "", effort.limiting, found.limiting)
    return effort._replace(status=status, limiting=limiting)


class _Cost:
    """The cost 1/2 f'Pf - c'f of contact forces and of the torques that follow from them."""

    def __init__(
        self, J: Array, needed: Array, motors: NDArray[np.bool_], desired: Array, forces: Array, torques: Array
    ) -> None:
        weighted = np.where(motors, torques, 0.0)
        Jt = np.swapaxes(J, -1, -2)
        self.P = np.eye(len(forces)) * forces + (J * weighted) @ Jt
        self.c = forces * desired + (J @ (weighted * needed)[..., None])[..., 0]

    def least(self, J: Array, needed: Array, motors: NDArray[np.bool_]) -> Array:
        """Minimise it subject to the balance of rows without a motor; least squares where this is infeasible."""
        L = np.linalg.cholesky(self.P)
        B = np.swapaxes(J, -1, -2)[..., ~motors, :]
        f = np.linalg.solve(self.P, self.c[..., None])
        if B.shape[-2]:
            whitened = np.swapaxes(np.linalg.solve(L, np.swapaxes(B, -1, -2)), -1, -2)
            back = np.linalg.solve(np.swapaxes(L, -1, -2), np.linalg.pinv(whitened, rcond=1e-10))
            for _ in range(2):  # the second pass removes rounding errors
                f = f + back @ (needed[..., ~motors, None] - B @ f)
        return np.asarray(f[..., 0], dtype=np.float64)


class _Found(NamedTuple):
    f: Array
    status: NDArray[np.str_]
    limiting: NDArray[np.str_]


class _Programs:
    """One QP for each state.

    Variables: contact forces f; torques follow from them.
    Objective: 1/2 f'Pf - c'f.
    Constraints: balance of the rows without a motor; friction cones; torque limits.
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
                limiting[index] = self._limiting(robot, answer, len(cone), float(np.abs(self.needed[index]).max()))
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
        """Return weights that relax balance and torque limits, but not cones: the residual is the least possible."""
        weight = PRIORITY * float(np.diag(self.cost.P[index]).max()) / float(np.square(rows[: len(rows) - cone]).max())
        return np.concatenate([np.full(len(rows) - cone, weight), np.full(cone, np.inf)])

    def _limiting(self, robot: Robot, answer: qp.QPResult, cone: int, load: float) -> str:
        start = len(answer.multipliers) - cone
        pushed = np.abs(answer.multipliers)
        active = pushed > 1e-3 * pushed.max(initial=0.0)
        found = [] if self.cones is None else self.cones.describe(active[start:], answer.x, load)
        over = self.limited[np.abs(answer.row_violation[len(self.free) : start]) > BALANCE_TOLERANCE * self.limits]
        return "; ".join([*found, *(f"torque of {_row_names(robot)[i]}" for i in over)])


def _effort(robot: Robot, forces: Forces, J: Array, needed: Array, motors: NDArray[np.bool_], limits: Array) -> Effort:
    """Compute torques from contact forces, and the residual."""
    pushed = J * forces.vector[..., None]
    left = needed - pushed.sum(axis=-2)
    tau = np.where(motors, np.clip(left, -limits, limits), 0.0)
    residual = left - tau
    size = np.abs(needed).max(axis=-1, initial=0.0) + np.abs(pushed).sum(axis=-2).max(axis=-1, initial=0.0)
    missing = np.abs(residual) > BALANCE_TOLERANCE * size[..., None]
    names = _row_names(robot)
    limiting = np.empty(missing.shape[:-1], dtype=object)
    for index in np.ndindex(limiting.shape):
        rows = np.flatnonzero(missing[index])
        limiting[index] = f"no motor or contact acts on {', '.join(names[i] for i in rows)}" if len(rows) else ""
    status = np.where(missing.any(axis=-1), "infeasible", "solved")
    return Effort(tau, forces, status, residual, limiting.astype(np.str_))


def _row_names(robot: Robot) -> list[str]:
    """Return a name for each entry of v: of its joint, or the direction of a floating base."""
    names = [joint.name for joint in robot.joints for _ in range(joint.v.stop - joint.v.start)]
    return [f"base {d}" for d in ("x", "y", "z", "rx", "ry", "rz")] + names[6:] if robot.base == "floating" else names


def _motors(robot: Robot, actuated: Sequence[str] | None) -> NDArray[np.bool_]:
    mask = np.ones(robot.nv, dtype=bool)
    if actuated is None:
        mask[: 6 if robot.base == "floating" else 0] = False
        return mask
    mask[:] = False
    for name in known_names("actuated", actuated, "joint", robot.joint_names):
        mask[robot.joint(name).v] = True
    return mask


def _desired(contacts: Sequence[Constraint], desired: Mapping[str, ArrayLike]) -> Array:
    """Return the desired forces in the order of the rows (..., rows)."""
    names = [contact.name for contact in contacts]
    known_names("desired_forces", desired, "contact", names)
    parts: list[Array] = []
    for contact in contacts:
        shape = contact.shape()
        value = numbers(f"desired force of {contact.name!r}", desired.get(contact.name, np.zeros(shape)), *shape)
        parts.append(value.reshape(*value.shape[: value.ndim - len(shape)], -1))
    return np.concatenate(broadcast(*((part, 1) for part in parts)), axis=-1)


def _weights(forces: ArrayLike, torques: ArrayLike, rows: int, nv: int) -> tuple[Array, Array]:
    result = []
    for what, value, size, least in (
        ("force_weights", forces, rows, "above 0"),
        ("torque_weights", torques, nv, "from 0 on"),
    ):
        weights = numbers(what, value)
        weights = np.full(size, float(weights)) if weights.ndim == 0 else weights
        enough = (weights > 0) if least == "above 0" else (weights >= 0)
        if weights.shape != (size,) or not enough.all():
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
