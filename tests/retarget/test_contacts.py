"""Contacts of feet, and soles on the ground."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.balance.limbs import fixed_links
from kinodyn.balance.shapes import extreme_points
from kinodyn.balance.standing_links import ground_shapes, links_of
from kinodyn.model.robot import Robot
from kinodyn.retarget.body import Body
from kinodyn.retarget.contacts import MIN_DURATION, MIN_RAISED, Contact, _rolling, find_contacts
from kinodyn.retarget.human import Human, normalise
from kinodyn.retarget.keypoints import key_points
from kinodyn.retarget.locks import ContactLocks
from kinodyn.retarget.structure import median
from kinodyn.retarget.targets import CORNERS, SWING, make_targets

RATE = 30.0


def standing(frames: int) -> Human:
    """Return a human who stands still."""
    motion = kd.retarget.example_motion(3)
    still = kd.retarget.Motion(
        motion.names, motion.parents, np.repeat(motion.positions[:1], frames, axis=0), motion.rate, "still"
    )
    return normalise(still, key_points(still), RATE)


def test_a_foot_that_is_lifted_slowly_stands_on_the_ground_until_it_is_lifted() -> None:
    human = standing(180)
    frames = len(human)
    height = 0.2 * np.clip((np.arange(frames) - 30) / 30.0, 0.0, 1.0)  # within 1 s, slower than feet that leave
    for part in ("knee", "ankle", "toe"):
        human.points[f"left_{part}"] = human.points[f"left_{part}"] + height[:, None] * [0.0, 0.0, 1.0]
    left = [contact for contact in find_contacts(human).contacts if contact.side == "left"]
    assert left[0].start == 0
    assert left[0].height == 0.0
    assert 30 <= left[0].stop < 42
    assert all(np.ptp(height[c.start : c.stop]) < 0.06 for c in left)


def raised(human: Human, side: str, heights: np.ndarray) -> None:
    """Lift a leg by a height in each frame."""
    for part in ("knee", "ankle", "toe"):
        human.points[f"{side}_{part}"] = human.points[f"{side}_{part}"] + heights[:, None] * [0.0, 0.0, 1.0]


@pytest.mark.parametrize(("height", "seconds"), [(0.0, MIN_DURATION), (0.2, MIN_RAISED)])
def test_a_foot_must_rest_for_some_time_and_longer_above_the_ground(height: float, seconds: float) -> None:
    """The left foot rests at a height for n frames, the first and the last of them too fast, and is in the air else."""
    for n in range(4, 15):
        human = standing(180)  # at twice the rate
        left, right = np.zeros(90), np.zeros(90)
        left[30:60] = 0.5 + 0.05 * np.arange(30)  # in the air, faster than feet that rest
        left[40 : 40 + n], right[20:70] = height, 0.9
        raised(human, "left", left)
        raised(human, "right", right)
        found = [(c.start, c.stop) for c in find_contacts(human).contacts if c.side == "left" and 30 < c.start < 60]
        assert found == ([(41, 39 + n)] if (n - 2) / RATE >= seconds else [])


def test_a_foot_stands_on_the_heel_where_its_toes_are_up_most_of_the_time() -> None:
    contact = Contact("left", 100, 118, (100, 118), 0.0)

    def edges(*degrees: float) -> tuple[tuple[int, int], tuple[str, str]]:
        rolling = _rolling(contact, np.deg2rad(degrees))
        return rolling.flat, rolling.edges

    assert edges(*[-12] * 4, *[0] * 10, *[12] * 4) == ((104, 114), ("heel", "toes"))
    assert edges(*[12] * 4, *[0] * 10, *[-12] * 4) == ((104, 114), ("toes", "heel"))
    # inclined less than a foot that rolls: on its toes unless these are up
    assert edges(*[-5] * 3, *[12] * 2, *[0] * 13) == ((105, 118), ("toes", "toes"))
    assert edges(*[-12] * 18) == ((100, 100), ("toes", "heel"))


def test_soles_on_the_ground_do_not_roll_with_the_shank() -> None:
    """Feet half a metre apart: shanks are inclined, soles are not."""
    human = standing(60)
    for side, out in (("left", 1.0), ("right", -1.0)):
        for part, share in (("knee", 0.5), ("ankle", 1.0), ("toe", 1.0)):
            human.points[f"{side}_{part}"] = human.points[f"{side}_{part}"] + [0.0, 0.25 * share * out, 0.0]
    targets = make_targets(Body.from_robot(kd.load("humanoid")), human, find_contacts(human))
    heights = targets.reference[: 2 * CORNERS, :, 2]
    np.testing.assert_allclose(heights, 0.0, atol=1e-3)


def walk_apart(name: str) -> float:
    """Return how far a joint of a leg moves outwards where feet are apart by two units more."""
    side = 1.0 if name.startswith("Left") else -1.0
    return side * {"Leg": 0.5, "Foot": 1.0, "ToeBase": 1.0}.get(name.removeprefix("Left").removeprefix("Right"), 0.0)


def test_legs_without_ankle_roll_keep_the_contacts_of_a_walk() -> None:
    """Five joints a leg: with feet apart, soles would have the roll of the legs if contacts did not come first."""
    robot = kd.load("humanoid")
    joints = tuple(
        replace(joint, kind="fixed", lower=-np.inf, upper=np.inf, velocity=np.inf, effort=np.inf, damping=0.0)
        if joint.name.endswith("ankle_roll")
        else joint
        for joint in robot.description.joints
    )
    five = Robot(replace(robot.description, joints=joints, configurations={}))
    walk = kd.retarget.example_motion(4)
    out = np.array([walk_apart(name) for name in walk.names])
    positions = walk.positions + 0.2 * out[:, None] * [0.0, 1.0, 0.0]
    result = kd.retarget.retarget(kd.retarget.Motion(walk.names, walk.parents, positions, walk.rate, "apart"), five)
    wanted = sum(contact.stop - contact.start for contact in find_contacts(result.human).contacts)
    kept = sum(int(result.in_contact(side).sum()) for side in ("left", "right"))
    assert result.report.passed
    assert kept > 0.8 * wanted


def test_a_foot_whose_toes_are_up_stands_on_its_heel() -> None:
    human = standing(180)
    human.points["left_toe"] = human.points["left_toe"] + np.where(np.arange(90) < 40, 0.08, 0.0)[:, None] * [0, 0, 1.0]
    feet = find_contacts(human)
    left = next(contact for contact in feet.contacts if contact.side == "left")
    assert left.edges[0] == "heel" and left.flat[0] == 40
    assert left.frames("heel") == (left.start, left.flat[1]) and left.frames("toes") == (40, left.stop)
    body = Body.from_robot(kd.load("humanoid"))
    targets = make_targets(body, human, feet)
    locks = ContactLocks(targets, body, feet.contacts, RATE)
    locks.apply(targets.reference.transpose(0, 2, 1))
    locked = targets.weights[:CORNERS, 10] > SWING
    np.testing.assert_array_equal(locked, [True, True, False, False])
    np.testing.assert_allclose(targets.positions[:2, 10, 2], 0.0, atol=1e-12)
    assert (targets.positions[2:CORNERS, 10, 2] > 0.03).all()


def test_contacts_on_one_edge_only_keep_it_where_it_is() -> None:
    """A sole whose heel is far up is short in the horizontal plane: its toes must not be placed farther ahead."""
    human = standing(120)
    ankle, toe = human.points["left_ankle"], human.points["left_toe"]
    human.points["left_ankle"] = toe + [-0.05, 0.0, 0.12] + 0.0 * ankle
    feet = find_contacts(human)
    body = Body.from_robot(kd.load("humanoid"))
    targets = make_targets(body, human, feet)
    left = next(contact for contact in feet.contacts if contact.side == "left")
    assert left.flat[0] == left.flat[1] and left.edges[1] == "toes"
    ContactLocks(targets, body, feet.contacts, RATE).apply(targets.reference.transpose(0, 2, 1))
    toes = slice(2, CORNERS)
    np.testing.assert_allclose(targets.positions[toes, 30], targets.reference[toes, 30], atol=1e-3)


def test_a_foot_that_is_long_in_the_air_follows_the_human_there() -> None:
    human = standing(360)
    height = 0.2 * np.clip(np.minimum(np.arange(180) - 30, 150 - np.arange(180)) / 5.0, 0.0, 1.0)
    for part in ("knee", "ankle", "toe"):
        human.points[f"left_{part}"] = human.points[f"left_{part}"] + height[:, None] * [0.0, 0.0, 1.0]
    feet, body = find_contacts(human), Body.from_robot(kd.load("humanoid"))
    targets = make_targets(body, human, feet)
    moved = targets.reference.transpose(0, 2, 1) + np.array([0.05, 0.0, 0.0])[:, None]
    ContactLocks(targets, body, feet.contacts, RATE).apply(moved)
    soles = targets.positions[:CORNERS].mean(axis=0) - targets.reference[:CORNERS].mean(axis=0)
    np.testing.assert_allclose(soles[10, :2], [0.05, 0.0], atol=5e-3)
    np.testing.assert_allclose(soles[90], 0.0, atol=1e-9)


def test_a_contact_says_in_which_frames_heel_and_toes_are_on_the_ground() -> None:
    contact = Contact("left", 0, 40, (20, 30), 0.0, ("heel", "toes"))
    assert contact.frames("heel") == (0, 30) and contact.frames("toes") == (20, 40)


def turned(human: Human, angle: np.ndarray) -> None:
    """Turn the left foot about its ankle by an angle (frames,) [rad]."""
    ankle = human.points["left_ankle"]
    toe = human.points["left_toe"] - ankle
    c, s = np.cos(angle), np.sin(angle)
    human.points["left_toe"] = ankle + np.stack(
        [c * toe[:, 0] - s * toe[:, 1], s * toe[:, 0] + c * toe[:, 1], toe[:, 2]], axis=1
    )


def left_contacts(human: Human) -> list[Contact]:
    return [contact for contact in find_contacts(human).contacts if contact.side == "left"]


def test_a_foot_that_turns_on_the_ground_stands_at_each_place_and_moves_in_between() -> None:
    human = standing(240)
    angle = 1.5 * np.clip((np.arange(len(human)) - 40) / 60.0, 0.0, 1.0)  # slower than a foot that leaves
    turned(human, angle)
    found = left_contacts(human)
    assert len(found) > 1
    assert all(np.ptp(angle[contact.start : contact.stop]) <= 0.6 for contact in found)
    assert all(after.start - before.stop >= 4 for before, after in zip(found, found[1:], strict=False))


def test_a_foot_that_shuffles_stands_at_each_place() -> None:
    human = standing(240)
    shift = 0.2 * np.clip((np.arange(len(human)) - 40) / 60.0, 0.0, 1.0)[:, None] * [1.0, 0.0, 0.0]
    for part in ("ankle", "toe"):
        human.points[f"left_{part}"] = human.points[f"left_{part}"] + shift
    found = left_contacts(human)
    assert len(found) > 2
    assert all(np.ptp(shift[contact.start : contact.stop, 0]) <= 0.06 for contact in found)


def test_the_heading_of_a_foot_on_its_toes_does_not_divide_contacts() -> None:
    """The direction from ankle to toes is almost vertical there, and its heading turns at random."""
    human = standing(240)
    toe = human.points["left_toe"]
    around = np.random.default_rng(0).uniform(-np.pi, np.pi, len(human))
    tip = 0.01 * np.column_stack([np.cos(around), np.sin(around), 0.0 * around])
    human.points["left_ankle"] = toe + [0.0, 0.0, 0.14] + tip
    assert len(left_contacts(human)) == 1


def test_flat_feet_have_the_pitch_of_the_foot_that_is_flat() -> None:
    """A foot on its toes all the time does not count."""
    human = standing(120)
    usual = find_contacts(human).pitch
    human.points["left_ankle"] = human.points["left_toe"] + [-0.05, 0.0, 0.12]
    assert find_contacts(human).pitch == pytest.approx(usual, abs=0.01)


def crossed(ahead: float) -> Human:
    """Return a human who stands with its left foot on the right of its right one, and ahead of it [m]."""
    human = standing(60)
    for part in ("knee", "ankle", "toe"):
        share = 0.5 if part == "knee" else 1.0
        human.points[f"left_{part}"] = human.points[f"left_{part}"] + share * np.array([ahead, -0.32, 0.0])
    return human


def test_crossed_feet_stay_crossed_where_they_do_not_touch() -> None:
    human, body = crossed(0.4), Body.from_robot(kd.load("humanoid"))
    targets = make_targets(body, human, find_contacts(human))
    apart = targets.reference[:CORNERS].mean(axis=0) - targets.reference[CORNERS:].mean(axis=0)
    wanted = targets.scale * (human.points["left_ankle"] - human.points["right_ankle"])
    np.testing.assert_allclose(apart[:, :2], wanted[:, :2], atol=0.03)  # hips are not as wide as a human's


def test_crossed_feet_beside_each_other_are_moved_apart_along_the_heading() -> None:
    human, body = crossed(0.1), Body.from_robot(kd.load("humanoid"))
    targets = make_targets(body, human, find_contacts(human))
    left, right = targets.reference[:CORNERS], targets.reference[CORNERS:]
    assert (left[..., 0].min(axis=0) > right[..., 0].max(axis=0)).all()
    assert (left[..., 1].mean(axis=0) < right[..., 1].mean(axis=0)).all()


def test_round_edges_of_feet_roll_on_the_ground() -> None:
    """Soles of G1 are spheres: the corners of an inclined sole are above the ground by what these reach below them."""
    human = standing(120)
    ankle, toe = human.points["left_ankle"], human.points["left_toe"]
    human.points["left_ankle"] = toe + [-0.05, 0.0, 0.12] + 0.0 * ankle
    body, feet = Body.from_robot(kd.load("g1")), find_contacts(human)
    targets = make_targets(body, human, feet)
    ContactLocks(targets, body, feet.contacts, RATE).apply(targets.reference.transpose(0, 2, 1))
    radius, steep = 0.005, np.arctan2(0.12, 0.05) - feet.pitch
    np.testing.assert_allclose(targets.positions[2:CORNERS, 30, 2], radius * (1.0 - np.cos(steep)), atol=6e-4)
    assert (targets.positions[2:CORNERS, 30, 2] > 0.001).all()


@pytest.mark.filterwarnings("ignore::kinodyn.DescriptionWarning")
@pytest.mark.parametrize("name", ["humanoid", "g1", "talos", "icub"])
def test_no_point_of_a_foot_is_below_the_ground_while_it_rolls(name: str) -> None:
    """All vertices of the shapes, and spheres in the direction down; a walk on the toes of one foot."""
    robot = kd.load(name)
    walk = kd.retarget.example_motion(4)
    positions = walk.positions.copy()
    ankle, toe = walk.names.index("LeftFoot"), walk.names.index("LeftToeBase")
    positions[:, ankle] = positions[:, toe] + [-0.03, 0.0, 0.14]
    result = kd.retarget.retarget(kd.retarget.Motion(walk.names, walk.parents, positions, walk.rate, "tiptoe"), robot)
    body, carried = Body.from_robot(robot), fixed_links(robot)
    for leg in body.legs.values():
        for link in links_of(robot, [leg.end, *carried[leg.end]]):
            poses = kd.kinematics.pose(robot, result.q, link.name)
            for shape in ground_shapes(link):
                lowest = [(T[:3, :3] @ extreme_points(shape, -T[2, :3]).T)[2].min() + T[2, 3] for T in poses]
                assert min(lowest) > -0.002


@pytest.mark.parametrize("count", [1, 2, 3, 10, 101])
def test_the_median_is_that_of_numpy(count: int) -> None:
    values = np.random.default_rng(count).normal(size=count)
    assert median(values) == np.median(values)
