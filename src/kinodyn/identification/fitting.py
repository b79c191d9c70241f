"""Fit of parameters to measurements."""

from __future__ import annotations

from typing import Literal

import numpy as np

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import one_of, positive
from kinodyn.errors import InputError
from kinodyn.identification.base import BaseParameters, find_base
from kinodyn.identification.consistent import Prior, fit_consistent
from kinodyn.identification.inertias import regularised
from kinodyn.identification.measurements import Measurements
from kinodyn.identification.model import Model, make_model
from kinodyn.identification.reduction import RANK_TOLERANCE, Reduced, noise, reduce, scales
from kinodyn.identification.report import Identification
from kinodyn.model.robot import Robot

Method = Literal["consistent", "weighted", "ordinary"]
PRIOR_FRICTION = 0.1  # scale of friction without a prior value, as a fraction of the torque
MIN_FRICTION = 1e-4  # fraction of this scale: friction where neither prior nor data determine it
MAX_UNOBSERVED = 1e-4  # fraction of an identified combination that lies in the null space of the data
MAX_SPREAD = 0.5  # of an identified combination: maximum posterior over prior standard deviation


@check_types
def fit(
    robot: Robot,
    data: Measurements,
    *,
    method: Method = "consistent",
    terms: tuple[str, ...] = ("viscous", "coulomb"),
    held_out: float | Measurements = 0.25,
    prior_spread: float = 1.0,
) -> Identification:
    """Fit the parameters of a robot to a recording, and evaluate the fit on held-out samples.

    Parameters
    ----------
    robot : Robot
        Its geometry is kept; its parameters are the prior, which remains where the data have no information.
    data : Measurements
        Measurements with v and a (see `prepare`); for a floating base with the wrenches of all contacts.
    method : "consistent", "weighted" or "ordinary"
        "consistent": physically consistent parameters by a convex problem (positive definite pseudo-inertias, friction
        not negative). "weighted", "ordinary": least squares on the base parameters, each torque weighted by its noise
        or all alike; the result may be physically inconsistent.
    terms : tuple of str
        Terms that are fitted besides the inertias: some of "viscous", "coulomb", "armature" and "offset". Damping and
        armature that are not fitted keep the values of the robot; dry friction that is not fitted is zero, as in
        `kd.dynamics`.
    held_out : float or Measurements
        Fraction of the samples that is held out, at the end; or another recording.
    prior_spread : float
        Relative standard deviation of the prior.

    Returns
    -------
    Identification
        It reports which parameters the data determine.

    Raises
    ------
    InputError
        For fewer torques than unknowns, a recording of another robot, or no v or a.
    """
    model = make_model(robot, terms)
    _check(robot, data, method, prior_spread)
    train, test = data.split(held_out) if not isinstance(held_out, Measurements) else (data, held_out)
    if isinstance(held_out, Measurements):
        _check(robot, held_out, method, prior_spread)
    base, size = find_base(model), scales(model, train)
    prior = _prior(model, train, size)
    S = prior.whitening()
    first, _, rank = _least_squares(reduce(model, train, size), prior, S, prior_spread)
    _require_samples(model, train, rank, base.rank)
    sigma = noise(model, train, first, size, rank)
    problem = reduce(model, train, np.full_like(sigma, np.sqrt(np.mean(sigma**2))) if method == "ordinary" else sigma)
    status = "converged"
    if method == "consistent":
        found = fit_consistent(problem, prior, prior_spread)
        x, covariance = found.x, found.covariance
        status = status if found.converged else f"not converged in {found.steps} steps"
    else:
        x, covariance, rank = _least_squares(problem, prior, S, prior_spread)
    return Identification(
        prior=robot,
        model=model,
        method=method,
        status=status,
        base=base,
        before=model.prior(),
        after=x,
        covariance=covariance,
        identified=_identified(problem, base, S, prior_spread),
        rank=rank,
        noise=sigma,
        train=train,
        test=test,
    )


def _check(robot: Robot, data: Measurements, method: str, spread: float) -> None:
    check_data(robot, data)
    one_of("method", method, ("consistent", "weighted", "ordinary"))
    positive("prior_spread", spread)


def check_data(robot: Robot, data: Measurements) -> None:
    """Raise unless data are measurements of the robot, with velocities and accelerations."""
    if not isinstance(data, Measurements):
        raise InputError(
            f"data must be Measurements, from kd.identification.measurements or read, got {type(data).__name__}"
        )
    if data.robot.joint_names != robot.joint_names or data.robot.nv != robot.nv:
        theirs, ours = ", ".join(data.robot.joint_names), ", ".join(robot.joint_names)
        raise InputError(f"the data are of {data.robot.name} with joints {theirs}; the robot has {ours}")
    data.rates()


def _require_samples(model: Model, train: Measurements, rank: int, unknowns: int) -> None:
    rows = len(train) * model.robot.nv
    if rank == 0:
        raise InputError("no parameter has an effect on these torques: the robot neither moves nor carries weight")
    if rows <= unknowns:
        raise InputError(
            f"{len(train)} samples of {model.robot.nv} torques are too few for {unknowns} unknowns; record more"
        )


def _prior(model: Model, train: Measurements, size: Array) -> Prior:
    """Return the prior: parameters of the robot, and a fraction of the torque for friction that it does not specify."""
    v, a = train.rates()
    own, scale, x = model.prior(), np.ones(len(model.names)), model.prior()
    first = [joint.v.start for joint in model.joints]
    ones = np.ones(model.robot.nv)
    per = {"viscous": _rms(v), "coulomb": ones, "armature": _rms(a), "offset": ones}
    for term in model.terms:
        part = model.indices(term)
        guess = (PRIOR_FRICTION * size / per[term])[first]
        has = own[part] > 0.01 * guess
        scale[part] = guess / PRIOR_FRICTION if term == "offset" else np.where(has, own[part], guess)
        x[part] = own[part] if term == "offset" else np.where(has, own[part], MIN_FRICTION * guess)
    n = model.inertial
    positive = sum(term != "offset" for term in model.terms) * len(model.joints)
    x[:n] = regularised(own[:n])
    part = slice(n, n + positive)
    return Prior(x, n // 10, positive, scale, x[part] / scale[part])


def _rms(rates: Array) -> Array:
    value: Array = np.sqrt(np.mean(rates**2, axis=0))
    return np.where(value > 1e-6, value, 1.0)


def _least_squares(problem: Reduced, prior: Prior, S: Array, spread: float) -> tuple[Array, Array, int]:
    """Solve for the base parameters; in the null space of the data the prior and its spread remain."""
    U, s, Vt = np.linalg.svd(problem.R @ S)
    rank = int((s > RANK_TOLERANCE * s[0]).sum()) if s[0] > 0.0 else 0
    seen, unseen = Vt[:rank], Vt[rank:]
    u = seen.T @ ((U[:, :rank].T @ (problem.z - problem.R @ prior.x)) / s[:rank])
    root = S @ np.concatenate([seen.T / s[:rank], unseen.T * spread], axis=1)
    return prior.x + S @ u, root @ root.T, rank


def _identified(problem: Reduced, base: BaseParameters, S: Array, spread: float) -> tuple[bool, ...]:
    """Return for each combination whether the data determine it clearly better than the prior does."""
    _, s, Vt = np.linalg.svd(problem.R @ S)
    s = np.where(s > RANK_TOLERANCE * s[0], s, 0.0)
    combination = Vt @ (S.T @ base.matrix.T)  # columns: each combination along the directions of the data
    left = np.sqrt((combination**2 / (s**2 + spread**-2)[:, None]).sum(axis=0))
    before = spread * np.linalg.norm(combination, axis=0)
    unseen = np.linalg.norm(combination[s == 0.0], axis=0) > MAX_UNOBSERVED * np.linalg.norm(combination, axis=0)
    return tuple(bool(known) for known in (left < MAX_SPREAD * before) & ~unseen)
