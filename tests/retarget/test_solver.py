"""The solver of a clip: what it reports of its result."""

from __future__ import annotations

import numpy as np

import kinodyn as kd
from kinodyn.retarget.body import Body
from kinodyn.retarget.contacts import find_contacts
from kinodyn.retarget.human import normalise
from kinodyn.retarget.keypoints import key_points
from kinodyn.retarget.solver import ClipSolver
from kinodyn.retarget.targets import CORNERS, SWING, make_targets, sole_corners


def clip_solver() -> ClipSolver:
    motion = kd.retarget.example_motion()
    human = normalise(motion, key_points(motion), 30.0)
    feet, body = find_contacts(human), Body.from_robot(kd.load("humanoid"))
    return ClipSolver(body, make_targets(body, human, feet), feet.contacts, 30.0)


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
