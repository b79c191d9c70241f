"""The functions of `kd.interop.torch` and `kd.interop.jax`: values, vector-Jacobian products and shapes, written once.

An adapter evaluates a `Call` on arrays of its library. Gradients with respect to q are those of functions that
normalise the quaternions in q: the gradient on the tangent space, times the transposed pseudo-inverse of the derivative
of `integrate(q, v)` with respect to v at v = 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

import numpy as np

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.dynamics.contact import constraints
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot

Arrays = Sequence[Array]
A = TypeVar("A", bound=Any)  # a tensor of PyTorch or an array of JAX


@dataclass(frozen=True)
class Call:
    """A function of one robot and its constant arguments.

    Parameters
    ----------
    function : str
        One of `FUNCTIONS`.
    robot : Robot
    frames : tuple of int
        Indices of the frames whose poses or velocity are computed, on which wrenches act, or that are in contact.
    option : str
        The reference of a velocity; the kinds of contacts, "surface" or "point", one word for each frame.
    points : tuple of float
        The points of contacts in their frames, three numbers each.
    """

    function: str
    robot: Robot
    frames: tuple[int, ...] = ()
    option: str = ""
    points: tuple[float, ...] = ()

    @property
    def tail(self) -> tuple[int, ...]:
        """Return the last axes of the result, after those of the batch."""
        sizes = {"q": self.robot.nq, "v": self.robot.nv, "n": len(self.frames)}
        return tuple(sizes[axis] if isinstance(axis, str) else axis for axis in FUNCTIONS[self.function].tail)

    def check_shapes(self, inputs: Sequence[A]) -> None:
        """Raise unless the last axes of the inputs, arrays of any library, have their sizes."""
        sizes = {"q": self.robot.nq, "v": self.robot.nv}
        named = [(name, sizes[axis]) for name, axis in FUNCTIONS[self.function].inputs]
        wrenches = [("wrenches", 6)] * (len(inputs) - len(named))
        for (name, size), each in zip([*named, *wrenches], inputs, strict=True):
            if tuple(each.shape[-1:]) != (size,):
                raise InputError(f"{name} must have shape (..., {size}), got {tuple(each.shape)}")

    def value(self, inputs: Arrays) -> Array:
        """Evaluate the function."""
        return FUNCTIONS[self.function].value(self, inputs)

    def vjp(self, inputs: Arrays, result: Array, gradient: Array) -> list[Array]:
        """Compute the gradients with respect to the inputs, in their shapes, from that with respect to the result."""
        found = FUNCTIONS[self.function].vjp(self, inputs, result, gradient)
        return [_sum_to(each, array.shape) for each, array in zip(found, inputs, strict=True)]


def of_one_rank(arrays: Sequence[A]) -> list[A]:
    """Add leading axes of length 1 to arrays of either library, so that axes added in front are those of all arrays."""
    rank = max(each.ndim for each in arrays)
    return [each.reshape((1,) * (rank - each.ndim) + tuple(each.shape)) for each in arrays]


class Function(NamedTuple):
    """A function: its value, its vector-Jacobian product, its inputs with their last axes, and those of its result.

    The axes "q", "v" and "n" stand for nq, nv and the number of frames. `vjp` receives the inputs, the result and the
    gradient with respect to the result. Wrenches may follow the inputs.
    """

    value: Callable[[Call, Arrays], Array]
    vjp: Callable[[Call, Arrays, Array, Array], Sequence[Array]]
    inputs: tuple[tuple[str, str], ...]
    tail: tuple[str | int, ...]


def _sum_to(gradient: Array, shape: tuple[int, ...]) -> Array:
    """Sum over the axes along which an input of this shape was broadcast."""
    extra = gradient.ndim - len(shape)
    axes = (*range(extra), *(extra + k for k, n in enumerate(shape) if n == 1 and gradient.shape[extra + k] != 1))
    return gradient.sum(axis=axes).reshape(shape) if axes else gradient


def _wrenches(call: Call, inputs: Arrays) -> dict[int, Array] | None:
    """Return the external wrenches by frame: the inputs after q, v and a or tau."""
    return dict(zip(call.frames, inputs[3:], strict=True)) or None


def _poses_vjp(call: Call, inputs: Arrays, result: Array, gradient: Array) -> list[Array]:
    (q,) = inputs
    rows = gradient.reshape(*q.shape[:-1], 16 * len(call.frames))
    return [_core.poses_vjp(call.robot, q, rows, call.frames, None)]


def _velocity(call: Call, inputs: Arrays) -> Array:
    q, v = inputs
    return _core.velocity(call.robot, q, v, call.frames[0], call.option, None)


def _velocity_vjp(call: Call, inputs: Arrays, result: Array, gradient: Array) -> Sequence[Array]:
    q, v = inputs
    return _core.velocity_vjp(call.robot, q, v, gradient, call.frames[0], call.option, None)


def _inverse(call: Call, inputs: Arrays) -> Array:
    q, v, a, *_ = inputs
    return _core.rnea(call.robot, q, v, a, _wrenches(call, inputs), None)


def _inverse_vjp(call: Call, inputs: Arrays, result: Array, gradient: Array) -> list[Array]:
    q, v, a, *_ = inputs
    *by_motion, by_wrenches = _core.rnea_vjp(call.robot, q, v, a, gradient, _wrenches(call, inputs), None)
    return [*by_motion, *np.moveaxis(by_wrenches, -2, 0)]


def _forward(call: Call, inputs: Arrays) -> Array:
    q, v, tau, *_ = inputs
    return _core.aba(call.robot, q, v, tau, _wrenches(call, inputs), None)


def _forward_vjp(call: Call, inputs: Arrays, a: Array, gradient: Array) -> list[Array]:
    q, v, *_ = inputs
    *by_motion, by_wrenches = _core.aba_vjp(call.robot, q, v, a, gradient, _wrenches(call, inputs), None)
    return [*by_motion, *np.moveaxis(by_wrenches, -2, 0)]


def _contacts(call: Call) -> constraints.Plan:
    names, kinds = call.robot.frame_names, call.option.split()
    points = np.array(call.points, dtype=np.float64).reshape(-1, 3)
    return constraints.plan(
        call.robot,
        [
            constraints.Contact(names[frame], kind=kind, point=point, name=f"{names[frame]} {k}")
            for k, (frame, kind, point) in enumerate(zip(call.frames, kinds, points, strict=True))
        ],
    )


def _constrained(robot: Robot, q: Array, v: Array, tau: Array, contacts: constraints.Plan) -> _core.ConstrainedDynamics:
    return _core.constrained(robot, q, v, tau, np.zeros(2), contacts.records, contacts.poses, None)


@lru_cache(maxsize=16)
def _weightless(robot: Robot) -> Robot:
    return robot.replace(gravity=np.zeros(3))


def _contact_dynamics(call: Call, inputs: Arrays) -> Array:
    q, v, tau = inputs
    return _constrained(call.robot, q, v, tau, _contacts(call)).a


def _contact_dynamics_vjp(call: Call, inputs: Arrays, a: Array, gradient: Array) -> list[Array]:
    """Differentiate the KKT system implicitly: the gradient with respect to tau solves it at rest, without weight."""
    q, v, tau = inputs
    contacts = _contacts(call)
    forces = _constrained(call.robot, q, v, tau, contacts).force
    adjoint = _constrained(_weightless(call.robot), q, np.zeros(call.robot.nv), gradient, contacts)
    by_q, by_v, _ = _core.constrained_vjp(
        call.robot, q, v, a, adjoint.a, forces, adjoint.force, contacts.records, contacts.poses, None
    )
    return [by_q, by_v, adjoint.a]


Q, V = ("q", "q"), ("v", "v")
FUNCTIONS = {
    "pose": Function(
        lambda call, inputs: _core.pose(call.robot, inputs[0], call.frames[0], None),
        _poses_vjp,
        (Q,),
        (4, 4),
    ),
    "poses": Function(
        lambda call, inputs: _core.poses(call.robot, inputs[0], call.frames, None),
        _poses_vjp,
        (Q,),
        ("n", 4, 4),
    ),
    "com": Function(
        lambda call, inputs: _core.com(call.robot, inputs[0], None),
        lambda call, inputs, result, gradient: [_core.com_vjp(call.robot, inputs[0], gradient, None)],
        (Q,),
        (3,),
    ),
    "velocity": Function(_velocity, _velocity_vjp, (Q, V), (6,)),
    "inverse": Function(_inverse, _inverse_vjp, (Q, V, ("a", "v")), ("v",)),
    "forward": Function(_forward, _forward_vjp, (Q, V, ("tau", "v")), ("v",)),
    "contact_dynamics": Function(_contact_dynamics, _contact_dynamics_vjp, (Q, V, ("tau", "v")), ("v",)),
    "integrate": Function(
        lambda call, inputs: _core.integrate(call.robot, inputs[0], inputs[1], None),
        lambda call, inputs, result, gradient: _core.integrate_vjp(call.robot, inputs[0], inputs[1], gradient, None),
        (Q, V),
        ("q",),
    ),
    "difference": Function(
        lambda call, inputs: _core.difference(call.robot, inputs[0], inputs[1], None),
        lambda call, inputs, result, gradient: _core.difference_vjp(call.robot, inputs[0], inputs[1], gradient, None),
        (("q0", "q"), ("q1", "q")),
        ("v",),
    ),
}
