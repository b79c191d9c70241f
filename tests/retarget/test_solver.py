"""The solver of a clip: what it reports of its result."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.retarget.body import Body, sole_corners
from kinodyn.retarget.contacts import find_contacts
from kinodyn.retarget.human import normalise
from kinodyn.retarget.keypoints import key_points
from kinodyn.retarget.solver import ClipSolver
from kinodyn.retarget.targets import CORNERS, LOCKED, SWING, make_targets


def clip_solver(on_toes: int = 0) -> ClipSolver:
    """Return the solver of the example, in which feet are on their toes in the last frames of contacts."""
    motion = kd.retarget.example_motion()
    human = normalise(motion, key_points(motion), 30.0)
    feet, body = find_contacts(human), Body.from_robot(kd.load("humanoid"))
    contacts = [replace(c, flat=(c.start, max(c.start + 1, c.stop - on_toes))) for c in feet.contacts]
    return ClipSolver(body, make_targets(body, human, feet), contacts if on_toes else feet.contacts, 30.0)


def check_points(solver: ClipSolver, q: np.ndarray) -> None:
    foot = solver.body.feet["left"]
    T = kd.kinematics.pose(solver.robot, q, foot.frame) @ foot.T_frame_sole
    corners = np.column_stack([sole_corners(solver.body, "left"), np.zeros(CORNERS)])
    expected = np.einsum("tij,cj->cti", T[:, :3, :3], corners) + T[:, :3, 3]
    np.testing.assert_allclose(solver.paths[:CORNERS], expected, atol=1e-12)


def test_points_are_those_of_the_result_although_few_frames_move() -> None:
    solver = clip_solver()
    before = solver.solve()
    solver.moving[:] = False
    solver.moving[16:24] = True
    solver.bounds[2, 7:] *= 0.3  # limits on steps displace frames that do not move
    solver.run(3, proximity=1.0, smoothing=0.1, verify=False)
    q = solver.finish()
    displaced = np.flatnonzero(np.any(q != before, axis=1))
    assert displaced.min() < 16 or displaced.max() > 23
    check_points(solver, q)


def test_points_are_those_of_the_result_in_frames_beside_those_that_move() -> None:
    solver = clip_solver()
    solver.solve()
    solver.moving[:] = False
    solver.moving[20] = True
    solver.targets.positions[:, 20] += 0.05  # iterations in float32 and in double have packs of other sizes
    solver.run(3, proximity=1.0, smoothing=0.1, verify=False)
    check_points(solver, solver.finish())


def test_the_base_does_not_follow_what_joints_lack_in_a_frame_in_which_no_sole_is_locked() -> None:
    solver = clip_solver()
    solver.solve()
    solver.targets.weights[: 2 * CORNERS, 15:26] = SWING
    solver.z[7:, 20] += 0.2
    base = solver.finish()[:, :3]
    assert np.abs(np.diff(base[17:24], 2, axis=0)).max() < 0.01


def test_feet_on_an_edge_are_placed_by_the_middle_of_their_soles_others_where_they_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    solver = clip_solver(on_toes=4)
    corners = solver.point[: 2 * CORNERS, :, : solver.frames]
    corners[:] = solver.targets.reference.transpose(0, 2, 1) + np.random.default_rng(0).normal(0.0, 0.02, corners.shape)
    solver.place_contacts(LOCKED, move=True)
    locked = (solver.targets.weights[: 2 * CORNERS] > SWING).reshape(2, CORNERS, -1)
    flat, swinging = locked.all(axis=1), ~locked.any(axis=1)
    on_an_edge = ~flat & ~swinging
    assert flat.any() and on_an_edge.any()

    placed: list[np.ndarray] = []
    monkeypatch.setattr(solver.locks, "apply", lambda places, weight: placed.append(places))
    solver.place_contacts(LOCKED, move=True)
    shift = (placed[0] - corners).reshape(2, CORNERS, 3, -1)
    wanted = (solver.targets.reference.transpose(0, 2, 1) - corners).reshape(2, CORNERS, 3, -1).mean(axis=1)
    assert not shift[:, :, 2].any()
    for side in range(2):
        assert not shift[side][:, :, ~on_an_edge[side]].any()
        expected = np.broadcast_to(wanted[side, None, :2][..., on_an_edge[side]], (CORNERS, 2, on_an_edge[side].sum()))
        np.testing.assert_allclose(shift[side][:, :2][..., on_an_edge[side]], expected, atol=1e-12)
