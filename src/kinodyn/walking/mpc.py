"""Model predictive control (MPC) of the LIPM: a zero moment point (ZMP) within the feet from which the robot can stop.

The knots of the plan coincide with the changes of support, so that the ZMP, linear between knots, is in its polygon at
all times and not only at samples.

P.-B. Wieber, "Trajectory free linear model predictive control for stable walking", 2006; A. Herdt et al., "Online
walking motion generation with automatic footstep placement", 2010; N. Scianca et al., "MPC for humanoid gait
generation: stability and feasibility", 2020.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import isfinite

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import integer, positive, vector
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.walking.footsteps import Footstep
from kinodyn.walking.horizon import Horizon
from kinodyn.walking.lipm_trajectory import LIPMTrajectory
from kinodyn.walking.mpc_qp import MPCProblem
from kinodyn.walking.schedule import ContactSchedule
from kinodyn.walking.step_limits import StepLimits
from kinodyn.walking.weights import MPCWeights

MAX_SAMPLES = 1000  # knots of the horizon, and footsteps in it


@displayed
@dataclass(frozen=True, eq=False)
class MPCPlan:
    """Result of the MPC.

    Attributes
    ----------
    status : str
        "solved"; "relaxed": these footsteps cannot capture the divergent component of motion (DCM), the plan misses it
        by as little as possible; "failed": the solver found no solution, and the plan is the nominal trajectory.
    missed : float
        Distance by which the DCM is missed, discounted to now [m]; 0 if solved.
    trajectory : LIPMTrajectory
        CoM and ZMP over the horizon.
    shifts : (m, 2)
        Shifts of the upcoming footsteps [m]; empty without adaptation.
    planned : tuple of Footstep
        The upcoming footsteps before the shifts.
    iterations : int
        Of the QP solver.
    seconds : float
        Time to solve the QP [s].
    """

    status: str
    missed: float
    trajectory: LIPMTrajectory
    shifts: Array
    planned: tuple[Footstep, ...]
    iterations: int
    seconds: float

    @cached_property
    def steps(self) -> tuple[Footstep, ...]:
        """The upcoming footsteps with their shifts; those after the last movable one move with it."""
        if len(self.shifts) == 0:
            return self.planned
        return tuple(step.shifted(self.shifts[min(k, len(self.shifts) - 1)]) for k, step in enumerate(self.planned))


@displayed
class MPC:
    """Plans the ZMP over the next phases of a contact schedule, from the state of the pendulum.

    Parameters
    ----------
    samples
        Number of knots of the horizon; the first is now.
    dt
        Approximate time between knots [s]; phases are divided evenly. By default a fifth of a single support.
    weights
        Weights of the objective.
    limits
        Limits within which upcoming footsteps may move; None keeps them as planned.
    movable
        Maximum number of footsteps that may move.
    """

    @check_types
    def __init__(
        self,
        *,
        samples: int = 16,
        dt: float | None = None,
        weights: MPCWeights | None = None,
        limits: StepLimits | None = None,
        movable: int = 2,
    ) -> None:
        integer("samples", samples, 2, MAX_SAMPLES)
        if dt is not None:
            positive("dt", dt)
        integer("movable", movable, 1, MAX_SAMPLES)
        self.samples, self.dt, self.limits, self.movable = int(samples), dt, limits, int(movable)
        self.weights = weights or MPCWeights()

    def __call__(
        self,
        schedule: ContactSchedule,
        t: float,
        com: ArrayLike,
        velocity: ArrayLike,
        *,
        zmp: ArrayLike | None = None,
        adapt: bool | None = None,
        travel: float = np.inf,
    ) -> MPCPlan:
        """Plan from time t [s] on.

        Parameters
        ----------
        schedule
        t
            Current time [s].
        com, velocity
            Of the CoM (2,) [m, m/s], measured or planned.
        zmp
            Current ZMP (2,) [m]: a jump from there is penalised like its rate. None lets it jump freely.
        adapt
            Whether footsteps may move; by default if there are step limits.
        travel
            Maximum shift of the next touchdown along each axis of the stance foot [m].
        """
        c, v = pair("com", com), pair("velocity", velocity)
        omega = schedule.body.omega
        moving = self.movable if (self.limits is not None if adapt is None else adapt) else 0
        if moving and self.limits is None:
            raise InputError("adapt=True needs step limits; make the MPC with limits=StepLimits.from_robot(body)")
        grid = Horizon(schedule, t, self.samples, self.dt or 0.2 * schedule.settings.single_support, moving)
        before = None if zmp is None else pair("zmp", zmp)
        problem = MPCProblem(grid, self.weights, omega, c + v / omega, before)
        answer = problem.solve(self.limits, travel)
        if answer.status != "solved":
            nominal = schedule.trajectory(c)
            return MPCPlan("failed", 0.0, nominal, np.zeros((0, 2)), grid.steps, 0, problem.seconds)
        y, shift, slack = problem.parts(answer.x)
        z = y + grid.zmp + grid.carried @ shift
        end = problem.dcm_end(y, shift)
        trajectory = LIPMTrajectory(grid.times, z.tolist(), omega, com=c, dcm_end=end)
        missed = slack if slack > 1e-6 else 0.0
        status = "relaxed" if missed else "solved"
        plan = MPCPlan(status, missed, trajectory, shift, grid.steps, answer.iterations, problem.seconds)
        if missed and moving:
            # the polygon of movable feet is smaller (`Phase.blended`); fixed feet may capture more
            still = self(schedule, t, c, v, zmp=zmp, adapt=False)
            return still if still.status != "failed" and still.missed < missed else plan
        return plan


def pair(name: str, value: ArrayLike) -> Array:
    """Check a vector (2,), as `numbers` does but faster where it is valid."""
    pair = np.asarray(value)
    if pair.shape == (2,) and pair.dtype == float and isfinite(pair[0]) and isfinite(pair[1]):
        return pair
    return vector(name, value, 2)
