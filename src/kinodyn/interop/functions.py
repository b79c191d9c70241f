"""The signatures of `kd.interop.torch` and `kd.interop.jax`: the same functions over arrays of either library."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Generic

from kinodyn import _core
from kinodyn.arrays import Reference
from kinodyn.checks import one_of
from kinodyn.dynamics.contact import Contact
from kinodyn.errors import InputError
from kinodyn.interop.differentiable import A, Call
from kinodyn.model.robot import Robot, require_robot

REFERENCES = ("local_world_aligned", "aligned", "local", "world")


class Functions(Generic[A]):
    """The differentiable functions of one library.

    Parameters
    ----------
    evaluate
        Evaluates a `Call` on arrays of the library.
    """

    def __init__(self, evaluate: Callable[[Call, Sequence[A]], A]) -> None:
        self._evaluate = evaluate

    def pose(self, robot: Robot, q: A, frame: str | int) -> A:
        """Compute the pose of one frame in the world; differentiable with respect to q.

        Parameters
        ----------
        robot : Robot
        q : (..., nq)
        frame : str or int

        Returns
        -------
        T_world_frame : (..., 4, 4)
        """
        return self._evaluate(Call("pose", robot, _indices(robot, [frame])), [q])

    def poses(self, robot: Robot, q: A, *, frames: Sequence[str | int] | None = None) -> A:
        """Compute the poses of all frames, or of some; differentiable with respect to q.

        Parameters
        ----------
        robot : Robot
        q : (..., nq)
        frames
            Names or indices of the n frames; all in the order of `robot.frame_names` if not given.

        Returns
        -------
        T_world_frame : (..., n, 4, 4)
        """
        return self._evaluate(Call("poses", robot, _indices(robot, frames)), [q])

    def com(self, robot: Robot, q: A) -> A:
        """Compute the centre of mass (CoM) of all moving links; differentiable with respect to q.

        Parameters
        ----------
        robot : Robot
        q : (..., nq)

        Returns
        -------
        p_world_com : (..., 3) [m]
        """
        require_robot(robot)
        return self._evaluate(Call("com", robot), [q])

    def velocity(
        self, robot: Robot, q: A, v: A, frame: str | int, *, reference: Reference = "local_world_aligned"
    ) -> A:
        """Compute the twist of a frame, the product of its Jacobian and v; differentiable with respect to q and v.

        Parameters
        ----------
        robot : Robot
        q, v : (..., nq), (..., nv)
        frame : str or int
        reference : "local_world_aligned", "local" or "world"

        Returns
        -------
        twist : (..., 6)
            Linear velocity [m/s], then angular velocity [rad/s].
        """
        one_of("reference", reference, REFERENCES)
        return self._evaluate(Call("velocity", robot, _indices(robot, [frame]), reference), [q, v])

    def inverse(self, robot: Robot, q: A, v: A, a: A, wrenches: Mapping[str, A] | None = None) -> A:
        """Compute the generalised forces for a motion; differentiable with respect to q, v, a and the wrenches.

        Parameters
        ----------
        robot : Robot
        q, v, a : (..., nq), (..., nv), (..., nv)
        wrenches : mapping of frame -> (..., 6), optional
            External force [N] and moment [N m] at the frame's origin, in world axes.

        Returns
        -------
        tau : (..., nv) [N m or N]
        """
        return self._dynamics("inverse", robot, [q, v, a], wrenches)

    def forward(self, robot: Robot, q: A, v: A, tau: A, wrenches: Mapping[str, A] | None = None) -> A:
        """Compute the acceleration under generalised forces; differentiable with respect to all arrays.

        Parameters
        ----------
        robot : Robot
        q, v : (..., nq), (..., nv)
        tau : (..., nv) [N m or N]
        wrenches : as for `inverse`

        Returns
        -------
        a : (..., nv) [rad/s^2 or m/s^2]
        """
        return self._dynamics("forward", robot, [q, v, tau], wrenches)

    def contact_dynamics(self, robot: Robot, q: A, v: A, tau: A, contacts: Sequence[Contact]) -> A:
        """Compute the acceleration under contacts that neither slip nor open; differentiable with respect to q, v, tau.

        Parameters
        ----------
        robot : Robot
        q, v : (..., nq), (..., nv)
        tau : (..., nv) [N m or N]
        contacts : sequence of Contact
            Contacts of frames with the world, as for `kd.contact.dynamics`, without stabilisation, and no loops.
            Gradients are those of independent constraints.

        Returns
        -------
        a : (..., nv) [rad/s^2 or m/s^2]
        """
        frames, kinds, points = _contact_rows(contacts)
        call = Call("contact_dynamics", robot, _indices(robot, frames), " ".join(kinds), tuple(points))
        return self._evaluate(call, [q, v, tau])

    def integrate(self, robot: Robot, q: A, v: A) -> A:
        """Move q along v for unit time; differentiable with respect to q and v.

        Parameters
        ----------
        robot : Robot
        q : (..., nq)
        v : (..., nv)
            Velocity times time [rad or m].

        Returns
        -------
        q : (..., nq)
        """
        require_robot(robot)
        return self._evaluate(Call("integrate", robot), [q, v])

    def difference(self, robot: Robot, q0: A, q1: A) -> A:
        """Compute the velocity that leads from q0 to q1 in unit time; differentiable with respect to both.

        Parameters
        ----------
        robot : Robot
        q0, q1 : (..., nq)

        Returns
        -------
        v : (..., nv)
        """
        require_robot(robot)
        return self._evaluate(Call("difference", robot), [q0, q1])

    def _dynamics(self, function: str, robot: Robot, motion: list[A], wrenches: Mapping[str, A] | None) -> A:
        given = wrenches or {}
        frames = _indices(robot, list(given))
        if len(set(frames)) < len(frames):
            raise InputError(f"the frames of wrenches must differ, got {list(given)}")
        return self._evaluate(Call(function, robot, frames), [*motion, *given.values()])


def _contact_rows(contacts: Sequence[Contact]) -> tuple[list[str], list[str], list[float]]:
    """Return the frame and the kind of each contact point, and the coordinates of all of them."""
    frames, kinds, points = [], [], []
    for contact in contacts:
        if not isinstance(contact, Contact):
            raise InputError(f"contacts must be a sequence of kd.contact.Contact, got {type(contact).__name__}")
        for point in [contact.point] if contact.corners is None else contact.corners:
            frames.append(contact.frame)
            kinds.append(contact.kind)
            points += point.tolist()
    return frames, kinds, points


def _indices(robot: Robot, frames: Sequence[str | int] | None) -> tuple[int, ...]:
    require_robot(robot)
    names = robot.frame_names
    if frames is None:
        return tuple(range(len(names)))
    # names are looked up in Python where they are known: torch.compile cannot trace the core
    return tuple(names.index(frame) if frame in names else _core.frame_index(robot, frame) for frame in frames)
