"""Impacts lose energy and never make any, whatever hits at once and however bouncy."""

from __future__ import annotations

import numpy as np
import pytest

import kinodyn as kd

CORNERS = [[0.1, 0.05, 0.0], [0.1, -0.05, 0.0], [-0.1, 0.05, 0.0], [-0.1, -0.05, 0.0]]

SETS = {
    "one point": [kd.contact.Contact("left_palm", kind="point")],
    "two feet": [kd.contact.Contact("left_sole"), kd.contact.Contact("right_sole")],
    "feet and hands": [
        *(kd.contact.Contact(f"{side}_sole") for side in ("left", "right")),
        *(kd.contact.Contact(f"{side}_palm", kind="point") for side in ("left", "right")),
    ],
    "corners, more than needed": [kd.contact.Contact(f"{side}_sole", corners=CORNERS) for side in ("left", "right")],
    "the same foot twice": [kd.contact.Contact("left_sole"), kd.contact.Contact("left_sole", name="again")],
    "feet, hands on a bar": [
        kd.contact.Contact("left_sole"),
        kd.contact.Loop("left_palm", "right_palm", directions="x y z rx"),
    ],
}


@pytest.mark.parametrize("which", list(SETS))
def test_impacts_at_many_points_lose_the_energy_of_their_restitution(which: str) -> None:
    """What is lost is 1 - e^2 of the kinetic energy of the stopped directions, 0.5 x'^T (J M^-1 J^T)^-1 x'."""
    robot, contacts = kd.load("humanoid"), SETS[which]
    rng = np.random.default_rng(0)
    q, v = robot.random(200, seed=1), rng.normal(size=(200, robot.nv))
    share = rng.uniform(size=200)
    share[:2] = 0.0, 1.0
    after, impulses = kd.contact.impact(robot, q, v, contacts, restitution=share)
    before, left = (kd.dynamics.kinetic_energy(robot, q, one) for one in (v, after))
    assert (left <= before * (1 + 1e-12)).all()
    J = kd.contact.jacobian(robot, q, contacts)
    M = kd.dynamics.mass_matrix(robot, q)
    mobility = J @ np.linalg.solve(M, np.swapaxes(J, -1, -2))
    rate = (J @ v[..., None])[..., 0]
    stopped = 0.5 * np.einsum("ni,nij,nj->n", rate, np.linalg.pinv(mobility, rcond=1e-9, hermitian=True), rate)
    np.testing.assert_allclose(before - left, (1 - share**2) * stopped, rtol=0, atol=1e-8 * before.max())
    # the impulses' work is half the force times what comes in and what goes out
    out = (J @ after[..., None])[..., 0]
    work = 0.5 * np.sum(impulses.vector * (rate + out), axis=-1)
    np.testing.assert_allclose(work, left - before, rtol=0, atol=1e-8 * before.max())


def test_a_second_impact_right_after_a_dead_one_changes_nothing() -> None:
    robot, contacts = kd.load("humanoid"), SETS["feet and hands"]
    q, v = robot.random(20, seed=3), np.random.default_rng(3).normal(size=(20, robot.nv))
    once, _ = kd.contact.impact(robot, q, v, contacts)
    twice, impulses = kd.contact.impact(robot, q, once, contacts, restitution=0.7)
    np.testing.assert_allclose(twice, once, rtol=0, atol=1e-9)
    np.testing.assert_allclose(impulses.vector, 0.0, atol=1e-8)
