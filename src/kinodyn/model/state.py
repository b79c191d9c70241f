"""State: all quantities of a robot at (q, v), computed in one pass, for control loops."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import _core
from kinodyn.arrays import Array, Reference
from kinodyn.display import displayed
from kinodyn.errors import SingularError
from kinodyn.model.robot import Robot, require_robot

_NEED_MASS = ("com", "com_jacobian", "com_velocity", "momentum_matrix", "momentum", "momentum_bias")


@displayed
class State:
    """The kinematics and dynamics of a robot at (q, v), or at a batch of states.

    The attributes are the memory that `update` overwrites: copy what must be kept. Writing into them recomputes
    nothing, and lasts until the next update.

    Parameters
    ----------
    robot : Robot
    q : (..., nq)
    v : (..., nv), optional
        By default zero.

    Attributes
    ----------
    poses : (..., n_frames, 4, 4)
        In the order of `robot.frame_names`.
    mass_matrix : (..., nv, nv)
    bias : (..., nv)
        Coriolis, centrifugal, damping and gravity forces.
    com, com_velocity : (..., 3)
    com_jacobian : (..., 3, nv)
    momentum_matrix : (..., 6, nv)
    momentum : (..., 6)
        About the centre of mass.
    momentum_bias : (..., 6)
        Rate of momentum at zero acceleration, so that the rate is momentum_matrix @ a + momentum_bias.

    Examples
    --------
    >>> import kinodyn as kd
    >>> robot = kd.load("humanoid")
    >>> state = kd.State(robot, robot.neutral())
    >>> state.jacobian("left_foot").shape
    (6, 36)
    """

    q: Array
    v: Array
    poses: Array
    mass_matrix: Array
    bias: Array
    com: Array
    com_jacobian: Array
    com_velocity: Array
    momentum_matrix: Array
    momentum: Array
    momentum_bias: Array

    def __init__(self, robot: Robot, q: ArrayLike, v: ArrayLike | None = None) -> None:
        require_robot(robot)
        self.robot = robot
        self._arrays = _core.state(robot, q, np.zeros(robot.nv) if v is None else v, None)
        batch = self._arrays.bias.shape[:-1]
        self.q, self.v = np.empty((*batch, robot.nq)), np.empty((*batch, robot.nv))
        self._keep(q, 0.0 if v is None else v)
        self.poses, self.mass_matrix, self.bias = self._arrays.poses, self._arrays.mass_matrix, self._arrays.bias
        if robot.mass > 0.0:
            for name in _NEED_MASS:
                setattr(self, name, getattr(self._arrays, name))
        self._frames = self.poses.reshape(*batch, len(robot.frame_names), 16)

    def update(self, q: ArrayLike, v: ArrayLike) -> State:
        """Recompute everything at another (q, v), in place and without allocation.

        Parameters
        ----------
        q, v : (..., nq), (..., nv)
            Same shapes as before.

        Returns
        -------
        State
            This object.

        Raises
        ------
        InputError
            For invalid numbers or shapes. A single state is then unchanged; a batch may be partly updated.
        """
        _core.state(self.robot, q, v, self._arrays)
        self._keep(q, v)
        return self

    def pose(self, frame: str | int) -> Array:
        """Return the pose of a frame as a view.

        Parameters
        ----------
        frame : str or int
            Name or index.

        Returns
        -------
        T_world_frame : (..., 4, 4)
        """
        view: Array = self.poses[..., _core.frame_index(self.robot, frame), :, :]
        return view

    def jacobian(
        self, frame: str | int, *, reference: Reference = "local_world_aligned", out: Array | None = None
    ) -> Array:
        """Return the Jacobian of a frame, as `kinodyn.kinematics.jacobian` does.

        Parameters
        ----------
        frame : str or int
            Name or index.
        reference : "local_world_aligned", "local" or "world"
        out : (..., 6, nv), optional
            Where to write the result.

        Returns
        -------
        (..., 6, nv)
        """
        index = _core.frame_index(self.robot, frame)
        return _core.state_jacobian(
            self.robot, self._arrays.columns, self._frames[..., index, :], index, reference, out
        )

    def __getattr__(self, name: str) -> Array:
        if name in _NEED_MASS:
            raise SingularError(f"this robot has no moving mass, so it has no {name}")
        raise AttributeError(f"a State has no attribute {name!r}")

    def _keep(self, q: ArrayLike, v: ArrayLike) -> None:
        self.q[...] = q
        self.v[...] = v
