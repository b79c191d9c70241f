"""The solver of a clip: what it reports of its result."""

from __future__ import annotations

import numpy as np

import kinodyn as kd
from kinodyn.retarget.body import Body
from kinodyn.retarget.contacts import find_contacts
from kinodyn.retarget.human import normalise
from kinodyn.retarget.keypoints import key_points
from kinodyn.retarget.solver import ClipSolver
from kinodyn.retarget.targets import CORNERS, make_targets, sole_corners


def test_points_are_those_of_the_result_although_few_frames_move() -> None:
    motion = kd.retarget.example_motion()
    human = normalise(motion, key_points(motion), 30.0)
    feet, body = find_contacts(human), Body.from_robot(kd.load("humanoid"))
    solver = ClipSolver(body, make_targets(body, human, feet), feet.contacts, 30.0)
    before = solver.solve()
    solver.moving[:] = False
    solver.moving[16:24] = True
    solver.bounds[2, 7:] *= 0.3  # limits on steps displace frames that do not move
    solver.run(3, proximity=1.0, smoothing=0.1, verify=False)
    q = solver.finish()
    displaced = np.flatnonzero(np.any(q != before, axis=1))
    assert displaced.min() < 16 or displaced.max() > 23
    foot = body.feet["left"]
    T = kd.kinematics.pose(body.robot, q, foot.frame) @ foot.T_frame_sole
    corners = np.column_stack([sole_corners(body, "left"), np.zeros(CORNERS)])
    expected = np.einsum("tij,cj->cti", T[:, :3, :3], corners) + T[:, :3, 3]
    np.testing.assert_allclose(solver.paths[:CORNERS], expected, atol=1e-12)
