"""A sole rests on the ground as the linear program says: of all planes above the ground, the lowest below its load."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

import kinodyn as kd
from kinodyn.errors import InputError
from kinodyn.terrain import FootholdRules, HeightMap, SoleOutline, footholds

CORNERS = np.array([(-0.08, -0.05), (0.16, -0.04), (0.16, 0.05), (-0.08, 0.05)])
SOLE = SoleOutline(CORNERS)


def lowest_plane(ground: HeightMap, pose: np.ndarray) -> np.ndarray:
    """Solve for height and slopes at the load by a general solver."""
    c, s = np.cos(pose[2]), np.sin(pose[2])
    R = np.array([[c, -s], [s, c]])
    points = (SOLE.inner - SOLE.centre) @ R.T
    heights = ground.height(points + R @ SOLE.centre + pose[:2])
    rows = -np.column_stack([np.ones(len(points)), points])
    found = linprog([1.0, 0.0, 0.0], rows, -heights, bounds=[(None, None)] * 3)
    return np.array(found.x)


@pytest.mark.parametrize("seed", range(5))
def test_the_plane_is_that_of_the_linear_program(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ground = HeightMap(0.05 * rng.uniform(size=(60, 60)), cell=0.02, origin=(-0.6, -0.6))
    poses = np.column_stack([rng.uniform(-0.3, 0.3, (40, 2)), rng.uniform(-3, 3, 40)])
    rules = FootholdRules(max_tilt_deg=60.0, min_support=0.05, tolerance=0.1)
    found = footholds(ground, SOLE, poses, rules)
    for k, pose in enumerate(poses):
        a, b, c = lowest_plane(ground, pose)
        turn = kd.spatial.rot_z(pose[2])[:2, :2]
        at_load = found.height[k] + found.gradient[k] @ (turn @ SOLE.centre)
        assert at_load == pytest.approx(a, abs=1e-7)  # the slopes need not be unique


def test_a_slope_inclines_the_sole_by_its_own_slope() -> None:
    ground = kd.terrain.from_heights(0.2 * np.arange(30)[:, None] * 0.05 + np.zeros((30, 20)), 0.05).map(cell=0.005)
    found = footholds(ground, SOLE, [0.0, 0.0, 0.7])
    assert found.supported and found.support == 1.0
    np.testing.assert_allclose(found.gradient, [0.2, 0.0], atol=0.01)


def test_each_rule_refuses_with_its_status() -> None:
    stairs = kd.terrain.stairs(0.185, 0.3, 3).map()
    codes = footholds(stairs, SOLE, [(0.0, 0.0, 0.0), (0.4, 0.0, 0.0), (0.49, 0.0, 0.0), (0.333, 0.0, 0.0)]).code
    assert codes.tolist() == [0, 2, 3, 4]
    assert footholds(stairs, SOLE, (80.0, 0.0, 0.0)).code == 1
    full = FootholdRules(min_support=1.0)
    overhanging = footholds(stairs, SOLE, (0.54, 0.0, 0.0))
    assert overhanging.supported and not footholds(stairs, SOLE, (0.54, 0.0, 0.0), full).supported
    assert overhanging.support < 1.0


def test_holes_below_a_part_of_the_sole_are_not_support() -> None:
    heights = np.zeros((100, 100))
    heights[60:, :] = -np.inf
    ground = HeightMap(heights, cell=0.01, origin=(-0.5, -0.5))
    fractions = footholds(ground, SOLE, [(x, 0.0, 0.0) for x in (-0.1, -0.02, 0.02)])
    assert fractions.support[0] == 1.0 and 0.7 < fractions.support[1] < 1.0
    assert fractions.supported.tolist() == [True, True, False]  # the ground ends at 0.095 m, below 65 % of the last one
    assert footholds(ground, SOLE, (0.3, 0.0, 0.0)).code == 1


def test_invalid_arguments_are_rejected() -> None:
    with pytest.raises(InputError):
        SoleOutline([(0, 0), (1, 0)])
    with pytest.raises(InputError):
        SoleOutline(CORNERS[::-1])
    with pytest.raises(InputError):
        FootholdRules(min_support=0.0)
    with pytest.raises(InputError):
        footholds(HeightMap([[0.0]], cell=0.1), SOLE, (np.nan, 0.0, 0.0))
