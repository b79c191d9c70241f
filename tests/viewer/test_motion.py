"""What moves a robot, without a page: sliders, dragging, playback, walking."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.viewer.dragging import COM, Dragging
from kinodyn.viewer.initial_pose import initial_configuration
from kinodyn.viewer.limbs import limbs
from kinodyn.viewer.playback import Player, make_tracks
from kinodyn.viewer.sliders import slider_coordinates, slider_groups


@pytest.fixture(scope="module")
def humanoid() -> kd.Robot:
    return kd.load("humanoid")


def swing(robot: kd.Robot, rows: int = 21, batch: tuple[int, ...] = ()) -> kd.Recording:
    """Let the first joint go from 0 to 1 rad in 2 s."""
    t = np.linspace(5.0, 7.0, rows)  # a recording need not begin at 0
    q = np.zeros((rows, *batch, robot.nq))
    q[..., 0] = (0.5 * (t - 5.0)).reshape(-1, *[1] * len(batch))
    v = np.zeros((rows, *batch, robot.nv))
    v[..., 0] = 0.5
    return kd.Recording.from_robot(robot, t, q, v, 0 * v)


def test_a_slider_changes_one_coordinate_only(every_kind: kd.Robot) -> None:
    q = every_kind.random(seed=2)
    values = [coordinate.read(q) for coordinate in slider_coordinates(every_kind)]
    for k, coordinate in enumerate(slider_coordinates(every_kind)):
        expected = values[k] + 0.01
        changed = coordinate.write(q, expected)
        kd.kinematics.poses(every_kind, changed)  # raises if a quaternion lost its length
        got = [other.read(changed) for other in slider_coordinates(every_kind)]
        assert got[k] == pytest.approx(expected, abs=1e-9)
        np.testing.assert_allclose(np.delete(got, k), np.delete(values, k), atol=1e-9)


def test_sliders_are_grouped_by_chain(humanoid: kd.Robot) -> None:
    groups = slider_groups(humanoid)
    assert list(groups) == ["Right leg", "Left leg", "Torso", "Right arm", "Left arm", "Head", "Base"]
    joints = [coordinate.joint.name for coordinate in groups["Left arm"]]
    assert tuple(joints) == humanoid.description.chains["left_arm"]
    assert sum(map(len, groups.values())) == humanoid.nv


def test_a_robot_without_chains_has_a_group_for_each_branch(humanoid: kd.Robot) -> None:
    plain = kd.Robot(replace(humanoid.description, chains={}))
    groups = slider_groups(plain)
    assert list(groups) == ["Right foot", "Left foot", "Right hand", "Left hand", "Head", "Other joints", "Base"]
    assert [coordinate.joint.name for coordinate in groups["Other joints"]] == ["torso_yaw"]
    for side in ("left", "right"):
        names = tuple(coordinate.joint.name for coordinate in groups[f"{side.title()} foot"])
        assert names == humanoid.description.chains[f"{side}_leg"]


def test_labels_of_sliders_have_units(every_kind: kd.Robot) -> None:
    units = {"prismatic": "[m]", "revolute": "[rad]", "continuous": "[rad]", "ball": "[rad]"}
    coordinates = slider_coordinates(every_kind)
    assert len({coordinate.label for coordinate in coordinates}) == len(coordinates)
    for coordinate in coordinates:
        kind = coordinate.joint.kind
        lengths = {"planar": 2, "floating": 3}.get(kind, 0)
        expected = units.get(kind) or ("[m]" if coordinate.part < lengths else "[rad]")
        assert coordinate.label.endswith(expected)


def test_an_arm_without_named_configuration_starts_away_from_its_limits_and_itself() -> None:
    arm = kd.load("panda")
    plain = kd.Robot(replace(arm.description, configurations={}))
    q = initial_configuration(plain)
    room = np.minimum(q - plain.limits.lower, plain.limits.upper - q) / (plain.limits.upper - plain.limits.lower)
    assert room.min() > 0.09
    assert kd.collision.free(plain, q)


def test_every_degree_of_freedom_has_a_slider_within_its_limits(every_kind: kd.Robot, humanoid: kd.Robot) -> None:
    for robot in (every_kind, humanoid):
        assert len(slider_coordinates(robot)) == robot.nv
        for coordinate in slider_coordinates(robot):
            assert np.isfinite([coordinate.lower, coordinate.upper]).all() and coordinate.lower < coordinate.upper
            if coordinate.joint.kind == "revolute":
                where = coordinate.joint.q.start
                assert (
                    robot.limits.lower[where] <= coordinate.lower + 1e-12
                    and coordinate.upper <= robot.limits.upper[where] + 1e-12
                )


def test_hands_feet_and_tools_can_be_dragged(humanoid: kd.Robot) -> None:
    found = {limb.frame: limb for limb in limbs(humanoid)}
    assert {"left_palm", "right_palm", "left_sole", "right_sole"} <= set(found)
    assert {frame for frame, limb in found.items() if limb.foot} == {"left_sole", "right_sole"}
    assert [limb.frame for limb in limbs(kd.load("panda"))] == ["panda_hand_tcp"]
    assert [limb.pose for limb in limbs(kd.load("scara"))] == [False]  # four joints: no orientation
    with pytest.raises(kd.UnknownNameError, match="left_palm"):
        limbs(humanoid, ["left_plam"])


def test_a_dragged_hand_reaches_its_target_while_the_feet_stay_and_the_com_is_above_them(humanoid: kd.Robot) -> None:
    q0 = humanoid.configuration("standing")
    feet = kd.balance.feet(humanoid)
    dragging = Dragging(humanoid, feet=feet)
    target = kd.kinematics.pose(humanoid, q0, "left_palm").copy()
    target[:3, 3] += [0.25, 0.05, -0.2]
    dragging.drag("left_palm", target, q0)
    q = q0
    for _ in range(240):
        q = dragging.step(q, 1 / 60)
        com = kd.kinematics.com(humanoid, q)
        assert kd.balance.support_margin(humanoid, q, feet, com) > -1e-3
        assert (q >= humanoid.limits.lower - 1e-9).all() and (q <= humanoid.limits.upper + 1e-9).all()
    assert dragging.reached(q)
    np.testing.assert_allclose(kd.kinematics.pose(humanoid, q, "left_palm"), target, atol=2e-3)
    for foot in feet:
        np.testing.assert_allclose(
            kd.kinematics.pose(humanoid, q, foot.frame), kd.kinematics.pose(humanoid, q0, foot.frame), atol=1e-3
        )


def test_the_com_can_be_dragged_up_to_the_edge_of_the_support_polygon(humanoid: kd.Robot) -> None:
    q = humanoid.configuration("standing")
    feet = kd.balance.feet(humanoid)
    dragging = Dragging(humanoid, feet=feet)
    com = kd.kinematics.com(humanoid, q)
    for shift, there in (([0.03, 0.02, -0.03], True), ([1.0, 0.0, 0.0], False)):
        dragging.drag(COM, com + shift, q)
        for _ in range(200):
            q = dragging.step(q, 1 / 60)
        assert dragging.reached(q) is there
        assert kd.balance.support_margin(humanoid, q, feet, kd.kinematics.com(humanoid, q)) > -1e-3


def test_a_released_target_is_removed(humanoid: kd.Robot) -> None:
    q = humanoid.configuration("standing")
    dragging = Dragging(humanoid)
    dragging.drag("left_palm", [0.3, 0.3, 1.0], q)  # a position alone keeps the orientation
    np.testing.assert_allclose(
        dragging.targets["left_palm"][:3, :3], kd.kinematics.pose(humanoid, q, "left_palm")[:3, :3]
    )
    dragging.release("left_palm")
    assert dragging.targets == {}
    np.testing.assert_allclose(dragging.step(q, 1 / 60), q, atol=1e-6)
    with pytest.raises(kd.UnknownNameError):
        dragging.drag("nose", [0, 0, 1], q)
    for wrong in ([0.0, np.nan, 1.0], np.zeros((2, 3)), np.zeros((4, 4))):
        with pytest.raises(kd.InputError):
            dragging.drag("left_palm", wrong, q)


def test_a_track_interpolates_between_rows_and_is_constant_beyond_its_ends() -> None:
    robot = kd.load("planar2r")
    (track,) = make_tracks(robot, swing(robot, rows=3))
    for t, angle in ((-1.0, 0.0), (0.0, 0.0), (0.3, 0.15), (1.0, 0.5), (1.9, 0.95), (2.0, 1.0), (9.0, 1.0)):
        assert track.at(t).q[0] == pytest.approx(angle, abs=1e-12)
    assert track.at(0.5).a == pytest.approx(0.0)


def test_the_player_loops_stops_scales_and_seeks() -> None:
    robot = kd.load("planar2r")
    player = Player(make_tracks(robot, swing(robot)), speed=2.0, loop=True)
    player.advance(0.5)
    assert player.time == 0.0  # it does not play yet
    player.play()
    player.advance(0.5)
    assert player.time == pytest.approx(1.0)
    player.advance(0.75)
    assert player.time == pytest.approx(0.5) and player.playing
    player.loop = False
    player.advance(5.0)
    assert player.time == player.duration and not player.playing
    player.play()
    assert player.time == 0.0
    player.seek(99.0)
    assert player.time == player.duration == 2.0
    with pytest.raises(kd.InputError, match="finite"):
        player.seek(float("nan"))


def test_recordings_of_another_robot_are_rejected_and_batches_are_side_by_side(humanoid: kd.Robot) -> None:
    robot = kd.load("planar2r")
    assert [track.name for track in make_tracks(robot, {"a": swing(robot), "b": swing(robot)})] == ["a", "b"]
    assert len(make_tracks(robot, swing(robot, batch=(2, 3)))) == 6
    many = swing(robot, batch=(13,))
    for wrong, message in ((many, "member"), ([], "0 motions"), ("walk.npz", "Recording"), ([3], "Recording")):
        with pytest.raises(kd.InputError, match=message):
            make_tracks(robot, wrong)
    with pytest.raises(kd.InputError, match="give the robot that was recorded"):
        make_tracks(humanoid, swing(robot))


def test_the_walker_follows_its_command_and_reports_a_fall(humanoid: kd.Robot) -> None:
    walker = kd.viewer.Walker(humanoid)
    start = kd.kinematics.com(humanoid, walker.snapshot.q)
    walker.command([0.2, 0.0, 0.0])
    walker.advance(1.8)
    moved = kd.kinematics.com(humanoid, walker.snapshot.q) - start
    assert moved[0] > 0.1 and walker.problem == "" and walker.fallen is None
    assert set(walker.snapshot.forces) == {"left_sole", "right_sole"}
    with pytest.raises(kd.InputError):
        walker.command([50.0, 0.0, 0.0])
    np.testing.assert_array_equal(walker.velocity, [0.2, 0.0, 0.0])
    walker.push([2500.0, 0.0, 0.0], 0.2)
    walker.advance(1.2)
    assert walker.fallen is not None and "fell" in walker.problem
    walker.reset()
    assert walker.problem == "" and walker.time == 0.0
    walker.advance(0.3)
    np.testing.assert_allclose(kd.kinematics.com(humanoid, walker.snapshot.q), start, atol=0.01)


def test_the_walker_runs_in_real_time_in_its_thread(humanoid: kd.Robot) -> None:
    walker = kd.viewer.Walker(humanoid)
    begin = time.perf_counter()
    walker.start()
    while walker.time < 0.2:
        time.sleep(0.01)
    walker.stop()
    assert walker.time <= time.perf_counter() - begin + 0.02  # never ahead of it
    assert not walker.running
    halted = walker.time
    time.sleep(0.05)
    assert walker.time == halted


def test_a_robot_that_cannot_walk_is_an_error_with_the_reason() -> None:
    with pytest.raises(kd.KinodynError, match="fixed base"):
        kd.viewer.Walker(kd.load("panda"))
