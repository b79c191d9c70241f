"""Identification: what a fit found, how sure it is of it, and how well it predicts what it has not seen."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from kinodyn.arrays import Array
from kinodyn.errors import KinodynError
from kinodyn.identification.base import BaseParameters
from kinodyn.identification.columns import labels
from kinodyn.identification.inertias import is_physically_consistent
from kinodyn.identification.measurements import Measurements
from kinodyn.identification.model import Model
from kinodyn.identification.robots import with_parameters
from kinodyn.model.robot import Robot

Figure: TypeAlias = Any  # of matplotlib, which only drawing needs


@dataclass(frozen=True, eq=False)
class Identification:
    """The result of `fit`.

    Attributes
    ----------
    prior : Robot
        The robot before the fit.
    model : Model
        What was fitted: names of all parameters and their terms.
    method, status : str
        "converged", or that the fit was not.
    base : BaseParameters
        The combinations that can be identified at all.
    before, after : (p,) arrays
        All parameters, in the order of `names`.
    covariance : (p, p) array
        Of `after`; where data say nothing it is the prior's spread.
    identified : tuple of bool
        For each combination of `base`: whether these data tell it clearly better than the prior does.
    rank : int
        In how many directions the data say anything at all.
    noise : (nv,) array
        Standard deviation of each torque's noise as estimated from the training samples [N m or N].
    train, test : Measurements
        The samples that were fitted, and those held out.
    """

    prior: Robot
    model: Model
    method: str
    status: str
    base: BaseParameters
    before: Array
    after: Array
    covariance: Array
    identified: tuple[bool, ...]
    rank: int
    noise: Array
    train: Measurements
    test: Measurements

    @property
    def names(self) -> tuple[str, ...]:
        """Name the parameters."""
        return self.model.names

    @property
    def standard_errors(self) -> Array:
        """Compute the standard error (p,) of each parameter."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))

    @property
    def base_before(self) -> Array:
        """Compute the combinations (rank of the base,) before the fit."""
        return self.base.matrix @ self.before

    @property
    def base_after(self) -> Array:
        """Compute the combinations after the fit."""
        return self.base.matrix @ self.after

    @property
    def base_standard_errors(self) -> Array:
        """Compute the standard error of each combination."""
        B = self.base.matrix
        return np.asarray(np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", B, self.covariance, B), 0.0)))

    @property
    def unidentified(self) -> tuple[str, ...]:
        """Name the combinations that the robot could show but these data do not: their values are the prior's."""
        return tuple(name for name, known in zip(self.base.names, self.identified, strict=True) if not known)

    @property
    def without_effect(self) -> tuple[str, ...]:
        """Name the parameters that no motion of this robot can show."""
        return tuple(name for name, status in zip(self.names, self.base.status, strict=True) if status == "none")

    @property
    def possible(self) -> bool:
        """Tell whether all parameters are those of real bodies, with friction and armature not negative."""
        n = self.model.inertial
        constants = [self.after[self.model.places(term)] for term in self.model.terms if term != "offset"]
        return bool(is_physically_consistent(self.after[:n]).all() and all((part >= 0.0).all() for part in constants))

    @cached_property
    def robot(self) -> Robot:
        """Make the robot with the parameters found; offsets are no part of it.

        Raises KinodynError when least squares found what no body can have.
        """
        if not self.possible:
            bad = is_physically_consistent(self.after[: self.model.inertial])
            links = [link for link, ok in zip(self.prior.parameter_links, bad, strict=True) if not ok]
            what = f"no body can have the parameters of {', '.join(links)}" if links else "a friction is negative"
            raise KinodynError(f'{what}; fit with method="consistent" for a robot')
        constants = {
            keyword: self._by_row(term, own)
            for keyword, term, own in (
                ("damping", "viscous", self.prior.damping),
                ("friction", "coulomb", self.prior.friction),
                ("armature", "armature", self.prior.armature),
            )
        }
        return with_parameters(self.prior, self.after[: self.model.inertial], **constants)

    @property
    def offsets(self) -> Array:
        """Give the constant torques (nv,), zero unless "offset" was fitted."""
        return self._by_row("offset", np.zeros(self.prior.nv))

    def predict(self, data: Measurements) -> Array:
        """Compute the torques (n, nv) that the fit expects along a recording."""
        return self.model.predict(data, self.after)

    def residuals(self, data: Measurements | None = None) -> Array:
        """Compute the root mean square (nv,) of measured less predicted torques, on held-out samples unless told."""
        return self._rms(self.test if data is None else data, self.after)

    def prior_residuals(self, data: Measurements | None = None) -> Array:
        """Compute what the robot before the fit leaves unexplained, as `residuals` does."""
        return self._rms(self.test if data is None else data, self.before)

    def text(self) -> str:
        """Write the report as text: torques, masses, friction, combinations, and what is not known."""
        from kinodyn.identification.tables import report_text

        return report_text(self)

    def plot(self, path: str | None = None) -> Figure:
        """Draw measured and predicted torques over time, held-out samples shaded; write it to a file if told."""
        from kinodyn.identification.plots import plot_torques

        return plot_torques(self, path)

    def labels(self) -> tuple[str, ...]:
        """Name the rows of a torque vector."""
        return labels(self.prior).v

    def _by_row(self, term: str, own: Array) -> Array:
        rows: Array = own.copy()
        if term in self.model.terms:
            for joint, value in zip(self.model.joints, self.after[self.model.places(term)], strict=True):
                rows[joint.v] = value
        return rows

    def _rms(self, data: Measurements, x: Array) -> Array:
        return np.asarray(np.sqrt(np.mean((data.tau - self.model.predict(data, x)) ** 2, axis=0)))
