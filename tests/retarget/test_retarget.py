"""Retargeted motions keep what they promise, measured here without the solver: by kinematics and robot limits."""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.retarget import Retargeted
from kinodyn.retarget.body import Body
from kinodyn.retarget.contacts import find_contacts
from kinodyn.retarget.human import normalise
from kinodyn.retarget.keypoints import key_points


@functools.cache
def walked(name: str = "humanoid", steps: int = 3) -> Retargeted:
    return kd.retarget.retarget(kd.retarget.example_motion(steps), kd.load(name))


def check_promises(result: Retargeted) -> None:
    robot, q = result.robot, result.q
    assert np.isfinite(q).all()
    np.testing.assert_allclose(np.linalg.norm(q[:, 3:7], axis=1), 1.0, atol=1e-9)
    assert (q[:, 7:] >= robot.limits.lower[7:]).all() and (q[:, 7:] <= robot.limits.upper[7:]).all()
    speeds = np.abs(robot.difference(q[:-1], q[1:])[:, 6:]) / result.dt
    limits = np.where(robot.limits.velocity[6:] > 0, robot.limits.velocity[6:], np.inf)
    assert (speeds <= limits).all()
    for side, foot in zip(("left", "right"), kd.balance.feet(robot), strict=True):
        corners = np.column_stack([foot.corners, np.zeros(len(foot.corners)), np.ones(len(foot.corners))])
        soles = foot.sole_pose(robot, q) @ corners.T
        assert soles[:, 2].min() > -0.002
        for contact in (c for c in result.contacts if c.side == side):
            flat = soles[contact.flat[0] : contact.flat[1], :3]
            assert len(flat) == 0 or np.abs(flat - flat[:1]).max() < 0.002


def test_feet_stand_still_limits_hold_and_hands_follow() -> None:
    result = walked()
    check_promises(result)
    report = result.report
    assert (
        report.passed and report.contacts == 5
    )  # left: before, between and after two swings; right: before and after one
    assert report.hand_error < 0.03 and report.foot_error < 0.03
    assert kd.collision.distance(result.robot, result.q).distance.min() > -0.001


def test_the_robot_walks_as_far_as_the_scaled_human() -> None:
    result = walked()
    travelled = result.human.middle("hip")[-1, 0] - result.human.middle("hip")[0, 0]
    assert result.q[-1, 0] - result.q[0, 0] == pytest.approx(result.report.scale * travelled, abs=0.03)


def test_the_same_result_bit_for_bit() -> None:
    again = kd.retarget.retarget(kd.retarget.example_motion(3), kd.load("humanoid"))
    np.testing.assert_array_equal(again.q, walked().q)


def test_the_number_of_threads_does_not_matter() -> None:
    threads = kd.get_threads()
    kd.set_threads(1)
    try:
        again = kd.retarget.retarget(kd.retarget.example_motion(3), kd.load("humanoid"))
    finally:
        kd.set_threads(threads)
    np.testing.assert_array_equal(again.q, walked().q)


def test_contacts_are_those_of_the_generated_steps() -> None:
    example = kd.retarget.example_motion(3)
    human = normalise(example, key_points(example), 30.0)
    contacts = find_contacts(human).contacts
    assert [c.side for c in contacts] == ["left"] * 3 + ["right"] * 2
    toes = human.points["left_toe"]
    for c in (c for c in contacts if c.side == "left"):
        assert np.abs(toes[c.start : c.stop] - toes[c.start]).max() < 0.05


def test_a_motion_in_left_handed_axes_is_mirrored_back() -> None:
    example = kd.retarget.example_motion(2)
    flipped = replace(example, positions=example.positions * [1.0, -1.0, 1.0])
    keys = key_points(flipped)
    human = normalise(flipped, keys, 30.0)
    straight = normalise(example, key_points(example), 30.0)
    assert any("mirrored" in note for note in human.notes)
    for name, points in straight.points.items():
        np.testing.assert_allclose(human.points[name], points, atol=1e-9)


@pytest.mark.parametrize("up", [0, 1, 2])
def test_any_axis_can_be_up_and_any_unit_is_recognised(up: int) -> None:
    example = kd.retarget.example_motion(2)
    straight = normalise(example, key_points(example), 30.0)
    order = [(k - up + 2) % 3 for k in range(3)]  # of axes, such that z becomes `up`
    for unit in (0.01, 0.001, 0.0254):
        turned = replace(example, positions=example.positions[:, :, order] / unit, units=None)
        human = normalise(turned, key_points(turned), 30.0)
        assert human.units == unit
        for name, points in straight.points.items():
            np.testing.assert_allclose(human.points[name], points, atol=1e-9)


def test_frames_at_an_odd_rate_are_interpolated() -> None:
    straight = normalise(kd.retarget.example_motion(2), key_points(kd.retarget.example_motion(2)), 30.0)
    odd = kd.retarget.example_motion(2, rate=97.3)
    human = normalise(odd, key_points(odd), 30.0)
    n = min(len(human), len(straight))
    assert np.abs(human.points["left_ankle"][:n] - straight.points["left_ankle"][:n]).max() < 0.002


def test_gaps_are_filled_and_points_that_are_missing_mostly_are_refused() -> None:
    example = kd.retarget.example_motion(2)
    positions = example.positions.copy()
    positions[10:14, example.names.index("LeftHand")] = np.nan
    human = normalise(replace(example, positions=positions), key_points(replace(example, positions=positions)), 30.0)
    assert any("left wrist: 4 frames interpolated" in note for note in human.notes)
    positions[5:, example.names.index("LeftHand")] = np.nan
    with pytest.raises(kd.InputError, match="left wrist has no finite position"):
        kd.retarget.retarget(replace(example, positions=positions), kd.load("humanoid"))


def test_bones_without_length_are_refused() -> None:
    example = kd.retarget.example_motion(2)
    positions = example.positions.copy()
    for side in ("Left", "Right"):
        positions[:, example.names.index(f"{side}Hand")] = positions[:, example.names.index(f"{side}ForeArm")]
    with pytest.raises(kd.InputError, match="elbow to wrist has no length"):
        kd.retarget.retarget(replace(example, positions=positions), kd.load("humanoid"))


@pytest.mark.parametrize("rate", [0.0, -1.0, np.nan, 1e9, "fast"])
def test_bad_rates_are_refused(rate: float) -> None:
    with pytest.raises(kd.InputError, match="rate must be"):
        kd.retarget.retarget(kd.retarget.example_motion(1), kd.load("humanoid"), rate=rate)


def test_robots_without_legs_are_refused() -> None:
    with pytest.raises(kd.KinodynError, match="fixed base"):
        kd.retarget.retarget(kd.retarget.example_motion(1), kd.load("panda"))


@pytest.mark.parametrize("suffix", [".npz", ".parquet", ".csv", ".qpos.npz", ".qpos.csv"])
def test_results_are_written_to_files(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"walk{suffix}"
    walked().save(file)
    assert file.stat().st_size > 1000
    if suffix in (".npz", ".parquet"):
        np.testing.assert_array_equal(kd.Recording.load(file).q, walked().q)


def test_a_dataset_folder_has_an_episode_and_its_description(tmp_path: Path) -> None:
    walked().save(tmp_path / "dataset")
    names = {
        str(path.relative_to(tmp_path / "dataset")) for path in (tmp_path / "dataset").rglob("*") if path.is_file()
    }
    assert names == {
        "data/chunk-000/episode_000000.parquet",
        "meta/info.json",
        "meta/tasks.jsonl",
        "meta/episodes.jsonl",
    }


@pytest.mark.filterwarnings("ignore::kinodyn.DescriptionWarning")
@pytest.mark.parametrize("name", ["humanoid", "g1", "talos", "icub", "romeo"])
def test_legs_and_arms_are_found_on_both_sides(name: str) -> None:
    body = Body.from_robot(kd.load(name))
    assert set(body.legs) == set(body.arms) == {"left", "right"}
    for limbs in (body.legs, body.arms):
        left, right = limbs["left"], limbs["right"]
        np.testing.assert_allclose(left.root * [1, -1, 1], right.root, atol=0.02)
        assert left.upper == pytest.approx(right.upper, rel=0.05) and left.root[1] > right.root[1]
        assert left.upper > 0.05 and left.lower > 0.05
    assert body.legs["left"].root[2] > body.legs["left"].knee[2] > body.legs["left"].tip[2]
