"""Hard contacts against closed forms: a bouncing ball, a sliding block, a block on a slope, the ground never pulls."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.dynamics.contact import Contact
from kinodyn.sim import HardContacts, simulate

from .posture_control import keep_posture

G = 9.81
HALF = np.array([0.2, 0.15, 0.1])  # of the block
BOTTOM = HALF * [(x, y, -1) for x in (-1, 1) for y in (-1, 1)]


class Slope:
    """A plane through the origin that falls along x."""

    def __init__(self, angle: float) -> None:
        self.normal = np.array([np.sin(angle), 0.0, np.cos(angle)])

    def height_and_normal(self, p: Any) -> tuple[np.ndarray, np.ndarray]:
        return np.asarray(p) @ self.normal, np.broadcast_to(self.normal, np.shape(p))


def bounces(t: np.ndarray, height: float, restitution: float) -> np.ndarray:
    """Height over time of a point that falls from rest and bounces."""
    z = np.maximum(height - 0.5 * G * t**2, 0.0)
    start, speed = np.sqrt(2 * height / G), restitution * np.sqrt(2 * G * height)
    while speed > 1e-4 and start < t[-1]:
        flight = (t >= start) & (t < start + 2 * speed / G)
        z[flight] = speed * (t - start)[flight] - 0.5 * G * (t - start)[flight] ** 2
        start, speed = start + 2 * speed / G, restitution * speed
    return z


def drop(block: kd.Robot, restitution: float, dt: float) -> kd.Recording:
    q0 = block.neutral()
    q0[2] = 1.0
    contacts = HardContacts([Contact("block", kind="point")], restitution=restitution)
    return simulate(block, None, 1.0, q0=q0, dt=dt, record_dt=2e-3, contacts=contacts)


@pytest.mark.parametrize("restitution", [0.0, 0.5, 0.8])
def test_a_ball_bounces_as_in_the_closed_form_to_first_order(block: kd.Robot, restitution: float) -> None:
    for dt in (1e-3, 5e-4):
        recording = drop(block, restitution, dt)
        error = np.abs(recording.q[:, 2] - bounces(recording.time, 1.0, restitution)).max()
        assert error <= 2 * dt * np.sqrt(2 * G)  # how far it moves within two steps at its fastest
        assert recording.q[:, 2].min() >= -dt * np.sqrt(2 * G)


def test_a_ball_without_restitution_stays_on_the_ground(block: kd.Robot) -> None:
    recording = drop(block, 0.0, 1e-3)
    np.testing.assert_allclose(recording.q[-1, 2], 0.0, atol=1e-12)
    np.testing.assert_allclose(recording.forces["block"][-1], [0, 0, 2 * G, 0, 0, 0], atol=1e-9)
    assert recording.contacts["block"][-1] and not recording.contacts["block"][1]


def test_a_ball_that_touches_the_ground_bounces_in_the_same_step(block: kd.Robot) -> None:
    v0 = np.array([0.0, 0.0, -1.0, 0.0, 0.0, 0.0])
    contacts = HardContacts([Contact("block", kind="point")], restitution=0.5)
    recording = simulate(block, None, 2e-3, q0=block.neutral(), v0=v0, dt=1e-3, record_dt=1e-3, contacts=contacts)
    assert recording.v[1, 2] == pytest.approx(0.5, abs=1e-3 * G)


def test_the_ground_carries_the_weight_of_a_point_however_the_body_turns_about_it(block: kd.Robot) -> None:
    """Velocities in axes of the body turn with it; those of its centre in the world do not."""
    v0 = np.array([1.0, 0.0, 0.0, 0.0, 5.0, 0.0])
    contacts = HardContacts([Contact("block", kind="point", friction=1e-9)])
    recording = simulate(block, None, 0.5, q0=block.neutral(), v0=v0, dt=1e-3, record_dt=1e-3, contacts=contacts)
    np.testing.assert_allclose(recording.forces["block"][1:], np.tile([0, 0, 2 * G, 0, 0, 0], (500, 1)), atol=0.1)
    np.testing.assert_allclose(recording.q[-1, :3], [0.5, 0.0, 0.0], atol=1e-3)


def slide(block: kd.Robot, dt: float, friction: float) -> kd.Recording:
    q0, v0 = block.neutral(), np.zeros(6)
    q0[2], v0[:2] = HALF[2], (1.2, 0.9)
    contacts = [Contact("block", corners=BOTTOM, friction=friction)]
    return simulate(block, None, 0.8, q0=q0, v0=v0, dt=dt, record_dt=2e-3, contacts=contacts)


def test_a_block_slides_to_rest_as_in_the_closed_form(block: kd.Robot) -> None:
    speed, friction = 1.5, 0.3
    rest = speed / (friction * G)
    for dt in (1e-3, 5e-4):
        recording = slide(block, dt, friction)
        t = np.minimum(recording.time, rest)
        along = recording.q[:, :2] @ [0.8, 0.6]
        np.testing.assert_allclose(along, speed * t - 0.5 * friction * G * t**2, atol=dt * speed)
        np.testing.assert_allclose(recording.q[:, :2] @ [-0.6, 0.8], 0.0, atol=1e-9)
        np.testing.assert_allclose(recording.q[:, 2], HALF[2], atol=1e-9)
    sliding = (recording.time > 0) & (recording.time < rest - 0.01)
    forces = recording.forces["block"][sliding, :3]
    np.testing.assert_allclose(
        forces, np.tile(2 * G * np.array([-0.8 * 0.3, -0.6 * 0.3, 1.0]), (len(forces), 1)), atol=1e-5
    )


@pytest.mark.parametrize(("friction", "slides"), [(0.3, True), (0.6, False)])
def test_a_block_on_a_slope_slides_only_beyond_its_angle_of_friction(
    block: kd.Robot, friction: float, slides: bool
) -> None:
    angle = np.arctan(0.45)
    q0 = block.neutral()
    q0[3:7] = [0.0, np.sin(angle / 2), 0.0, np.cos(angle / 2)]
    q0[:3] = HALF[2] * Slope(angle).normal
    contacts = HardContacts([Contact("block", corners=BOTTOM, friction=friction)], ground=Slope(angle))
    recording = simulate(block, None, 0.5, q0=q0, contacts=contacts)
    down = recording.q[-1, :3] @ [np.cos(angle), 0.0, -np.sin(angle)]
    acceleration = G * (np.sin(angle) - friction * np.cos(angle)) if slides else 0.0
    np.testing.assert_allclose(down, 0.5 * acceleration * 0.5 * (0.5 + 1e-3), atol=1e-6)


def test_a_block_comes_to_rest_on_a_box_of_a_terrain_and_falls_where_there_is_no_ground(block: kd.Robot) -> None:
    field = kd.contact.HeightField(np.zeros((3, 3)), 1.0, (-1.0, -1.0))
    ground = kd.terrain.Terrain([field]).with_box(0.0, 0.0, (0.8, 0.8, 0.05))
    contacts = HardContacts([Contact("block", corners=BOTTOM)], ground=ground)
    q0 = np.stack([block.neutral()] * 2)
    q0[:, :3] = [[0.0, 0.0, 0.2], [5.0, 0.0, 0.2]]
    recording = simulate(block, None, 0.4, q0=q0, contacts=contacts)
    np.testing.assert_allclose(recording.q[-1, 0, 2], 0.05 + HALF[2], atol=1e-9)
    np.testing.assert_allclose(recording.v[-1, 1, 2], -G * 0.4, rtol=1e-9)


def test_a_tumbling_block_loses_energy_and_comes_to_rest_above_the_ground(block: kd.Robot) -> None:
    corners = np.concatenate([BOTTOM, BOTTOM * [1, 1, -1]])
    q0 = block.neutral()
    q0[2], q0[3:7] = 0.5, np.array([0.2, 0.1, 0.05, 1.0]) / np.linalg.norm([0.2, 0.1, 0.05, 1.0])
    contacts = [Contact("block", corners=corners, friction=0.5)]
    recording = simulate(block, None, 1.5, q0=q0, v0=[0.5, 0, 0, 1, 2, 3], contacts=contacts)
    kinetic = kd.dynamics.kinetic_energy(block, recording.q, recording.v)
    energy = kinetic + kd.dynamics.potential_energy(block, recording.q)
    assert energy[0] > 2 * energy[-1]
    gain = np.diff(energy)[recording.contacts["block"][1:]]
    assert gain.max() < 1e-6
    np.testing.assert_allclose(recording.v[-1], 0.0, atol=1e-6)
    np.testing.assert_allclose(recording.q[-1, 2], HALF[2], atol=1e-6)


def test_the_ground_never_pulls(block: kd.Robot) -> None:
    q0 = block.neutral()
    q0[2] = HALF[2]
    lift = kd.sim.Push("block", [0.0, 0.0, 3 * G * 2.0], start=0.05, duration=0.1)
    recording = simulate(block, None, 0.2, q0=q0, contacts=[Contact("block", corners=BOTTOM)], pushes=[lift])
    assert (recording.forces["block"][:, 2] >= 0.0).all()
    assert recording.q[-1, 2] > HALF[2] + 0.05
    assert not recording.contacts["block"][60:].any()


def test_friction_stays_in_its_cone_when_a_block_is_pushed(block: kd.Robot) -> None:
    q0 = block.neutral()
    q0[2] = HALF[2]
    contacts = [Contact("block", corners=BOTTOM, friction=0.5)]
    for force, moves in ((0.4 * 2 * G, False), (0.6 * 2 * G, True)):
        push = kd.sim.Push(
            "block", [force, 0.0, 0.0, 0.0, -force * 0.1, 0.0], duration=0.2
        )  # at the height of the ground
        recording = simulate(block, None, 0.2, q0=q0, contacts=contacts, pushes=[push])
        wrench = recording.forces["block"]
        assert (np.linalg.norm(wrench[:, :2], axis=1) <= 0.5 * wrench[:, 2] + 1e-6).all()
        assert (recording.q[-1, 0] > 1e-3) == moves


def test_a_batch_of_blocks_agrees_with_single_blocks(block: kd.Robot) -> None:
    q0 = np.tile(block.neutral(), (3, 1))
    q0[:, 2] = HALF[2] + np.array([0.0, 0.02, 0.5])
    contacts = [Contact("block", corners=BOTTOM)]
    together = simulate(block, None, 0.1, q0=q0, v0=[0.4, 0.1, 0, 0, 0, 0.5], contacts=contacts)
    assert together.forces["block"].shape == (101, 3, 6)
    for k in range(3):
        alone = simulate(block, None, 0.1, q0=q0[k], v0=[0.4, 0.1, 0, 0, 0, 0.5], contacts=contacts)
        np.testing.assert_allclose(together.member(k).q, alone.q, atol=1e-9)
        np.testing.assert_allclose(together.member(k).forces["block"], alone.forces["block"], atol=1e-5)


def test_a_humanoid_stands_on_its_corners_and_the_ground_carries_its_weight() -> None:
    robot = kd.load("humanoid")
    soles = [(x, y, 0.0) for x in (-0.08, 0.12) for y in (-0.04, 0.04)]
    feet = [Contact("left_sole", corners=soles), Contact("right_sole", corners=soles)]
    start = robot.configuration("standing")
    start[2] -= kd.kinematics.pose(robot, start, "left_sole")[2, 3]
    hold = keep_posture(robot, start)
    recording = simulate(robot, hold, 0.3, q0=start, contacts=feet)
    total = recording.forces["left_sole"] + recording.forces["right_sole"]
    assert recording.status == "complete" and recording.signals["contact_error"].max() < 1e-4
    momentum = kd.centroidal.momentum(robot, recording.q, recording.v)[:, 2]
    impulse = 1e-3 * np.cumsum(total[1:, 2] - robot.mass * G)
    np.testing.assert_allclose(momentum[1:] - momentum[0], impulse, atol=0.02)
    heights = [kd.kinematics.pose(robot, recording.q, sole)[:, 2, 3] for sole in ("left_sole", "right_sole")]
    assert np.min(heights) > -1e-3 and np.max(heights) < 5e-3


def test_invalid_hard_contacts_are_rejected(block: kd.Robot) -> None:
    with pytest.raises(kd.InputError, match="corners"):
        HardContacts([Contact("block")])
    with pytest.raises(kd.InputError, match="restitution"):
        HardContacts([Contact("block", kind="point")], restitution=1.5)
    with pytest.raises(kd.InputError, match="at least one"):
        HardContacts([])
    with pytest.raises(kd.InputError, match="semi-implicit"):
        simulate(block, None, 0.1, contacts=[Contact("block", kind="point")], integrator="rk4")
    with pytest.raises(kd.UnknownNameError, match="brick"):
        simulate(block, None, 0.1, contacts=[Contact("brick", kind="point")])
