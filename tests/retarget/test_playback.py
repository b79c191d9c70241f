"""Clips in simulation: what cannot be played is reported, commands stay within limits, the robot stays on its feet."""

from dataclasses import replace

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.retarget import playback

HUMANOID = kd.load("humanoid")
BODY = kd.walking.Biped.from_robot(HUMANOID)
CLIP = kd.retarget.retarget(kd.retarget.example_motion(), HUMANOID)


def moved(speed, turn=0.0, seconds=4.0):
    """Return a clip whose base moves along an arc while the joints rest."""
    time = np.arange(0.0, seconds, 1.0 / 30.0)
    q = np.tile(BODY.q, (len(time), 1))
    yaw = turn * time
    path = np.cumsum(speed / 30.0 * np.column_stack([np.cos(yaw), np.sin(yaw)]), axis=0)
    q[:, :2] += path
    q[:, 3:7] = kd.spatial.as_quaternion(kd.spatial.rot_z(yaw) @ BODY.base[:3, :3])
    standing = (
        kd.retarget.Contact("left", 0, len(time), (0, len(time)), 0.0),
        kd.retarget.Contact("right", 0, len(time), (0, len(time)), 0.0),
    )
    return replace(CLIP, q=q, dt=1.0 / 30.0, contacts=standing)


@pytest.mark.parametrize(("speed", "turn"), [(0.3, 0.0), (0.2, 0.3), (-0.2, 0.0)])
def test_commands_are_the_velocity_of_the_pelvis_in_its_heading(speed, turn):
    controller = kd.walking.WalkingController(BODY)
    commands, notes = playback._commands(moved(speed, turn), controller)
    inner = commands[5:-5]
    np.testing.assert_allclose(inner, np.tile([speed, 0.0, turn], (len(inner), 1)), atol=0.02)
    assert notes == ()


def test_speeds_beyond_the_limits_are_reduced_and_reported():
    controller = kd.walking.WalkingController(BODY)
    commands, notes = playback._commands(moved(4.0), controller)
    assert len(notes) == 1 and "4.0" in notes[0]
    for command in commands:
        controller.planner.timing.check(command)  # raises beyond the limits


def test_flight_and_bending_are_reported_beforehand():
    flying = replace(CLIP, contacts=())
    assert "flight at 0.00 to" in kd.retarget.unsupported_parts(flying, BODY)[0]
    low = moved(0.0)
    low.q[30:60, 2] *= 0.5
    (note,) = kd.retarget.unsupported_parts(low, BODY)
    assert "bending" in note and "1.00 to 2.00 s" in note
    assert kd.retarget.unsupported_parts(moved(0.3), BODY) == ()


def test_frames_that_bend_down_are_interpolated():
    low = moved(0.3)
    expected = low.q.copy()
    low.q[30:60, 2] *= 0.5
    low.q[30:60, 10] = 1.0
    np.testing.assert_allclose(playback._upright(low, BODY).q, expected, atol=1e-9)
    low.q[:, 2] *= 0.5
    with pytest.raises(kd.KinodynError, match="no frame in which the trunk is upright"):
        playback._upright(low, BODY)


def test_distances_are_those_of_the_path():
    assert playback._path_length(moved(0.3).q[:, :2]) == pytest.approx(0.3 * 4.0, rel=0.05)


def test_a_walking_clip_is_played_on_both_feet():
    played = kd.retarget.play(CLIP)
    assert played.stood and played.posture_error < 0.05
    assert played.recording.duration == pytest.approx(playback.LEAD_TIME + CLIP.time[-1] + playback.REST_TIME, abs=2e-3)
