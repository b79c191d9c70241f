"""Base parameters: the combinations of parameters that torques determine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr, solve_triangular

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.display import displayed
from kinodyn.identification.model import Model, make_model
from kinodyn.model.robot import Robot, _generator

RANK_TOLERANCE = 1e-9  # of the largest pivot; true pivots are above 1e-4, those of dependent columns are rounding
ZERO = 1e-9  # coefficients below are rounding


@displayed
@dataclass(frozen=True, eq=False)
class BaseParameters:
    """The identifiable combinations of a robot's parameters.

    Attributes
    ----------
    parameters : tuple of str
        Names of all parameters, p of them.
    names : tuple of str
        The combinations, written out: "Izz(link1) + 0.25 m(link2)".
    matrix : (rank, p) array
        Maps all parameters to the combinations.
    independent : tuple of int
        The first parameter of each combination; its column of the regressor belongs to the base regressor.
    status : tuple of str
        How each parameter can be identified: "alone", "combined" (only with others) or "none".
    """

    parameters: tuple[str, ...]
    names: tuple[str, ...]
    matrix: Array
    independent: tuple[int, ...]
    status: tuple[str, ...]

    @property
    def rank(self) -> int:
        """Number of combinations."""
        return len(self.names)

    def text(self) -> str:
        """Return the combinations, one on each line, and the parameters without effect."""
        silent = [name for name, status in zip(self.parameters, self.status, strict=True) if status == "none"]
        lines = [
            f"{self.rank} of {len(self.parameters)} parameters can be identified:",
            *map("  {}".format, self.names),
        ]
        return "\n".join([*lines, "without effect: " + (", ".join(silent) or "none")])


@check_types
def base_parameters(
    robot: Robot, *, terms: Sequence[str] = ("viscous", "coulomb"), seed: int | np.random.Generator = 0
) -> BaseParameters:
    """Find the identifiable combinations of parameters by a pivoted QR decomposition of the regressor.

    The regressor is evaluated at random states. The six rows of a floating base are included: the wrenches on the robot
    are assumed to be known.

    Parameters
    ----------
    robot : Robot
    terms : sequence of str
        Terms that are fitted besides the inertias: some of "viscous", "coulomb", "armature" and "offset".
    seed : int or numpy.random.Generator
        Seed of the random states.

    Returns
    -------
    BaseParameters

    Notes
    -----
    M. Gautier, "Numerical calculation of the base inertial parameters of robots", 1991.

    Examples
    --------
    >>> import kinodyn as kd
    >>> base = base_parameters(kd.load("planar2r"), terms=())
    >>> base.rank, base.status[3]  # mz(link1): along the axis of rotation
    (6, 'none')
    """
    return find_base(make_model(robot, terms), seed)


def find_base(model: Model, seed: int | np.random.Generator = 0) -> BaseParameters:
    """Find the base parameters of a model; see `base_parameters`."""
    robot, generator = model.robot, _generator(seed)
    n = 4 * (len(model.names) // robot.nv + 1) + 16
    v, a = generator.normal(size=(2, n, robot.nv))
    W = model.regressor(robot.random(n, seed=generator), v, 3.0 * a)
    W = W.reshape(-1, W.shape[-1])
    R, order = qr(W, mode="r", pivoting=True)
    pivots = np.abs(np.diag(R))
    rank = int((pivots > RANK_TOLERANCE * pivots[0]).sum()) if pivots.size and pivots[0] > 0.0 else 0
    K = solve_triangular(R[:rank, :rank], R[:rank, rank:])
    K[np.abs(K) < ZERO] = 0.0
    matrix = np.zeros((rank, len(model.names)))
    matrix[np.arange(rank), order[:rank]] = 1.0
    matrix[:, order[rank:]] = K
    # In the order of the links, so that the list reads from the base outwards.
    rows = np.argsort(order[:rank])
    return describe(model.names, matrix[rows], tuple(int(i) for i in order[:rank][rows]))


def describe(names: tuple[str, ...], matrix: Array, independent: tuple[int, ...]) -> BaseParameters:
    """Return base parameters with the names of the rows of a matrix of combinations."""
    written = tuple(_written(row, lead, names) for row, lead in zip(matrix, independent, strict=True))
    status = []
    for column in matrix.T:
        used = np.flatnonzero(column)
        alone = len(used) == 1 and np.count_nonzero(matrix[used[0]]) == 1
        status.append("alone" if alone else "combined" if len(used) else "none")
    return BaseParameters(names, written, matrix, independent, tuple(status))


def _written(row: Array, lead: int, names: tuple[str, ...]) -> str:
    text = names[lead]
    for i in np.flatnonzero(row):
        if i != lead:
            size = "" if abs(abs(row[i]) - 1.0) < ZERO else f"{abs(row[i]):.4g} "
            text += f" {'-' if row[i] < 0 else '+'} {size}{names[i]}"
    return text
