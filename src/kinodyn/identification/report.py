"""Identification: fitted parameters, their standard errors, and predictions of held-out samples."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.display import displayed
from kinodyn.errors import KinodynError
from kinodyn.identification.base import BaseParameters
from kinodyn.identification.columns import labels
from kinodyn.identification.inertias import is_physically_consistent
from kinodyn.identification.measurements import Measurements
from kinodyn.identification.model import Model
from kinodyn.identification.plots import Figure, plot_torques
from kinodyn.identification.report_text import heading, rows
from kinodyn.identification.robots import with_parameters
from kinodyn.model.robot import Robot


@displayed
@dataclass(frozen=True, eq=False)
class Identification:
    """The result of `fit`.

    Attributes
    ----------
    prior : Robot
        The robot before the fit.
    model : Model
        Names of all parameters and their terms.
    method, status : str
        The method of `fit`; "converged" or "not converged in ... steps".
    base : BaseParameters
        The combinations that can be identified at all.
    before, after : (p,) arrays
        All parameters, in the order of `names`.
    covariance : (p, p) array
        Covariance of `after`; that of the prior where the data have no information.
    identified : tuple of bool
        For each combination of `base`: whether these data determine it clearly better than the prior does.
    rank : int
        Rank of the regressor of the data.
    noise : (nv,) array
        Standard deviation of the noise of each torque, estimated from the training samples [N m or N].
    train, test : Measurements
        The fitted and the held-out samples.
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
        """Names of the parameters."""
        return self.model.names

    @property
    def standard_errors(self) -> Array:
        """Standard error (p,) of each parameter."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))

    @property
    def base_before(self) -> Array:
        """The combinations (rank of the base,) before the fit."""
        return self.base.matrix @ self.before

    @property
    def base_after(self) -> Array:
        """The combinations after the fit."""
        return self.base.matrix @ self.after

    @property
    def base_standard_errors(self) -> Array:
        """Standard error of each combination."""
        B = self.base.matrix
        return np.asarray(np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", B, self.covariance, B), 0.0)))

    @property
    def unidentified(self) -> tuple[str, ...]:
        """Identifiable combinations that these data do not determine: they have the values of the prior."""
        return tuple(name for name, known in zip(self.base.names, self.identified, strict=True) if not known)

    @property
    def without_effect(self) -> tuple[str, ...]:
        """Parameters without effect on the torques of any motion."""
        return tuple(name for name, status in zip(self.names, self.base.status, strict=True) if status == "none")

    @property
    def is_physically_consistent(self) -> bool:
        """Whether bodies of positive mass can have all parameters, and friction and armature are not negative."""
        n = self.model.inertial
        constants = [self.after[self.model.indices(term)] for term in self.model.terms if term != "offset"]
        return bool(is_physically_consistent(self.after[:n]).all() and all((part >= 0.0).all() for part in constants))

    @cached_property
    def robot(self) -> Robot:
        """The robot with the fitted parameters, without offsets.

        Raises
        ------
        KinodynError
            If the parameters are not physically consistent.
        """
        if not self.is_physically_consistent:
            bad = is_physically_consistent(self.after[: self.model.inertial])
            links = [link for link, ok in zip(self.prior.parameter_links, bad, strict=True) if not ok]
            what = (
                f"the parameters of {', '.join(links)} are not physically consistent"
                if links
                else "friction is negative"
            )
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
        """Constant torques (nv,), zero unless "offset" was fitted."""
        return self._by_row("offset", np.zeros(self.prior.nv))

    @check_types
    def predict(self, data: Measurements) -> Array:
        """Predict the torques along a recording.

        Parameters
        ----------
        data : Measurements

        Returns
        -------
        (n, nv)
        """
        return self.model.predict(data, self.after)

    @check_types
    def residuals(self, data: Measurements | None = None) -> Array:
        """Compute the root mean square of measured minus predicted torques.

        Parameters
        ----------
        data : Measurements, optional
            By default the held-out samples.

        Returns
        -------
        (nv,)
            [N m or N].
        """
        return self._rms(self.test if data is None else data, self.after)

    @check_types
    def prior_residuals(self, data: Measurements | None = None) -> Array:
        """Compute the residuals for the robot before the fit, as in `residuals`.

        Parameters
        ----------
        data : Measurements, optional
            By default the held-out samples.

        Returns
        -------
        (nv,)
            [N m or N].
        """
        return self._rms(self.test if data is None else data, self.before)

    def text(self) -> str:
        """Return a report as text: torques, masses, friction, combinations, and what is not identified."""
        n = self.model.inertial
        values = (self.before, self.after, self.standard_errors)
        errors = (self.prior_residuals(), self.residuals(self.train), self.residuals(), self.noise)
        combinations = (self.base_before, self.base_after, self.base_standard_errors)
        notes = ["" if known else "  not identified" for known in self.identified]
        sections = (
            self._summary(),
            [heading("rms torque error", "before", "fitted", "held out", "noise"), *rows(self.labels(), errors)],
            [
                heading("mass [kg]", "before", "after", "std error"),
                *rows(self.prior.parameter_links, [column[:n:10] for column in values]),
                *rows(self.names[n:], [column[n:] for column in values]),
            ],
            [
                heading("combination", "before", "after", "std error"),
                *(row + note for row, note in zip(rows(self.base.names, combinations), notes, strict=True)),
            ],
            [
                "not identified with these data: " + ("; ".join(self.unidentified) or "none"),
                "without effect on any torque: " + (", ".join(self.without_effect) or "none"),
                f"known only in combination with others: {self.base.status.count('combined')} parameters",
            ],
        )
        return "\n\n".join("\n".join(section) for section in sections)

    @check_types
    def plot(self, path: str | None = None) -> Figure:
        """Plot measured and predicted torques over time, held-out samples shaded.

        Parameters
        ----------
        path : str, optional
            An image file to write.

        Returns
        -------
        matplotlib.figure.Figure
        """
        runs = [(data, self.predict(data)) for data in (self.train, self.test)]
        return plot_torques(self.labels(), *runs, errors=self.residuals(), path=path)

    def labels(self) -> tuple[str, ...]:
        """Return the names of the entries of a torque vector."""
        return labels(self.prior).v

    def _summary(self) -> list[str]:
        consistent = "all parameters are" if self.is_physically_consistent else "some parameters are NOT"
        unused = self.train.ignored
        return [
            f"{self.prior.name}: {self.method} fit of {len(self.names)} parameters, {self.status}",
            f"{len(self.train)} samples fitted, {len(self.test)} held out",
            f"{self.base.rank} combinations can be identified, {sum(self.identified)} of them with these data",
            f"{consistent} physically consistent",
            *([f"columns of the file that were not used: {', '.join(unused)}"] if unused else []),
        ]

    def _by_row(self, term: str, own: Array) -> Array:
        rows: Array = own.copy()
        if term in self.model.terms:
            for joint, value in zip(self.model.joints, self.after[self.model.indices(term)], strict=True):
                rows[joint.v] = value
        return rows

    def _rms(self, data: Measurements, x: Array) -> Array:
        return np.asarray(np.sqrt(np.mean((data.tau - self.model.predict(data, x)) ** 2, axis=0)))
