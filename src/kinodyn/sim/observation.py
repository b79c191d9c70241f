"""What a controller observes: the state of the robot, the forces on its feet, its IMU and the time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.display import displayed
from kinodyn.model.state import State
from kinodyn.sim.imu import Imu
from kinodyn.sim.protocol import Simulator


@displayed
@dataclass(frozen=True, eq=False)
class Observation:
    """Measurements available to a controller at one control tick, on a robot or in a simulator.

    Attributes
    ----------
    time : float
        [s]
    state : State
        The robot at the measured or estimated configuration and velocity.
    forces : dict of frame -> (6,), or None
        Measured contact wrench on each foot's frame [N, N m], along world axes at the origin of the frame. A frame
        that is not listed carries no load; None if forces are not measured.
    imu : Imu or None
        Mean reading since the last tick; None on a fixed base.
    elastic : (nv,) or None
        Torques of springs on the joints, which the robot's model does not have [N m, N]; None if there are none.

    Examples
    --------
    >>> import numpy as np, kinodyn as kd
    >>> robot = kd.load("humanoid")
    >>> state = kd.State(robot, robot.configuration("standing"))
    >>> half = np.array([0.0, 0.0, 0.5 * 9.81 * robot.mass, 0.0, 0.0, 0.0])
    >>> observation = kd.sim.Observation(0.0, state, {"left_sole": half, "right_sole": half})
    >>> observation.imu is None
    True
    """

    time: float
    state: State
    forces: Mapping[str, Array] | None
    imu: Imu | None = None
    elastic: Array | None = None


@runtime_checkable
class ObservationController(Protocol):
    """A controller that needs more than the state. `simulate` passes it an `Observation` at every control tick."""

    def act(self, observation: Observation) -> ArrayLike:
        """Compute the torques of one control tick.

        Parameters
        ----------
        observation

        Returns
        -------
        (nv,)
            Generalised forces; those of a floating base are zero [N m, N].
        """
        ...


@runtime_checkable
class Elastic(Protocol):
    """A simulator of robots with springs that their models do not have."""

    def elastic_torques(self) -> Array | None:
        """Return the torques (nv,) of springs on the joints [N m, N]; None if there are none."""
        ...


def observe(simulator: Simulator, state: State, time: float) -> Observation:
    """Read the sensors of a simulator.

    Parameters
    ----------
    simulator
        Anything that offers the protocol `sim.Simulator`.
    state
        The state as the controller sees it: true, noisy, delayed or estimated.
    time
        [s]

    Returns
    -------
    Observation
        Its IMU reading is the mean since the previous call.
    """
    imu = simulator.read_imu() if simulator.robot.base == "floating" else None
    elastic = simulator.elastic_torques() if isinstance(simulator, Elastic) else None
    return Observation(time, state, simulator.contact_forces(), imu, elastic)
