"""BVH files: positions by composition of rotations, and errors with their line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import kinodyn as kd
from kinodyn.errors import InputError
from kinodyn.retarget.bvh import MAX_BYTES, read_bvh

from .clips import HIERARCHY, bvh_of_angles, bvh_of_points


def test_positions_are_those_of_composed_rotations(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    frames = np.column_stack([rng.uniform(-50, 50, (8, 3)), rng.uniform(-20, 20, (8, 6))])
    motion = kd.retarget.read(bvh_of_angles(frames, tmp_path / "a.bvh"))
    assert motion.names == ("Hips", "Spine", "Spine_end") and motion.rate == pytest.approx(100.0)
    root = Rotation.from_euler("ZXY", frames[:, 3:6], degrees=True)
    spine = root * Rotation.from_euler("YXZ", frames[:, 6:], degrees=True)
    at = frames[:, :3] + root.apply([0, 10, 0])
    np.testing.assert_allclose(motion.positions[:, 0], frames[:, :3], atol=1e-9)
    np.testing.assert_allclose(motion.positions[:, 1], at, atol=1e-9)
    np.testing.assert_allclose(motion.positions[:, 2], at + spine.apply([0, 20, 0]), atol=1e-9)


def test_every_fourth_frame_of_a_file_at_four_times_the_rate_is_read(tmp_path: Path) -> None:
    frames = np.column_stack([np.arange(41.0), np.zeros((41, 8))])
    file = bvh_of_angles(frames, tmp_path / "a.bvh")
    assert kd.retarget.read(file, 25.0).positions[:, 0, 0].tolist() == frames[::4, 0].tolist()
    assert len(kd.retarget.read(file, 30.0)) == 41  # not a multiple: all frames, to be interpolated


def test_a_rest_pose_in_front_of_the_motion_is_left_out(tmp_path: Path) -> None:
    frames = np.zeros((20, 9))
    frames[1:, 3] = 60.0 + np.arange(19)
    motion = kd.retarget.read(bvh_of_angles(frames, tmp_path / "a.bvh"))
    assert len(motion) == 19


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no MOTION"),
        ("nonsense\n", ":1: a BVH file starts with HIERARCHY"),
        (HIERARCHY, "no MOTION"),
        (HIERARCHY + "MOTION\nFrames: 2\nFrame Time: 0\n", "frame time is 0"),
        (HIERARCHY + "MOTION\nFrames: 5\nFrame Time: 0.01\n" + "0 " * 9 + "\n", "only 1 follow"),
        (HIERARCHY + "MOTION\nFrames: 2\nFrame Time: 0.01\n" + "0 " * 9 + "\n" + "0 " * 8 + "\n", "9 numbers, got 8"),
        (HIERARCHY + "MOTION\nFrames: 2\nFrame Time: 0.01\n" + "0 " * 9 + "\nnan" + " 0" * 8 + "\n", "not finite"),
        (HIERARCHY + "MOTION\nFrames: 2\nFrame Time: 0.01\n" + "0 " * 9 + "\nx" + " 0" * 8 + "\n", "not a number"),
        (HIERARCHY.replace("CHANNELS 3", "CHANNELS 4"), "CHANNELS needs a count"),
        (HIERARCHY.replace("OFFSET 0 10 0", "OFFSET 0 inf 0"), "three finite numbers"),
        (HIERARCHY.removesuffix("}\n") + "MOTION\nFrames: 2\n", "still open"),
    ],
)
def test_broken_files_are_refused_with_the_reason(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "broken.bvh"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(kd.InputError, match=message):
        kd.retarget.read(file)


def test_a_motion_in_centimetres_with_y_up_is_recognised(tmp_path: Path) -> None:
    example = kd.retarget.example_motion(2)
    robot = kd.load("humanoid")
    direct = kd.retarget.retarget(example, robot)
    read = kd.retarget.retarget(bvh_of_points(example, tmp_path / "walk.bvh"), robot)
    assert read.human.units == 0.01 and "y is up" in read.human.notes
    for name, points in direct.human.points.items():
        np.testing.assert_allclose(read.human.points[name], points, atol=1e-6)


def test_blank_lines_carriage_returns_and_exponents_are_read(tmp_path: Path) -> None:
    frames = np.random.default_rng(5).uniform(-30.0, 30.0, (6, 9))
    file = bvh_of_angles(frames, tmp_path / "clip.bvh")
    expected = read_bvh(file).positions
    head, rows = file.read_text().split("Frame Time: 0.01\n")
    lines = [" ".join(f"{value:+.17e}" for value in map(float, row.split())) for row in rows.splitlines()]
    file.write_text(head + "Frame Time: 0.01\n" + "\n \n".join(lines), newline="\r\n")
    assert np.allclose(read_bvh(file).positions, expected, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_files_with_a_byte_order_mark_are_read(tmp_path: Path, encoding: str) -> None:
    plain = bvh_of_points(kd.retarget.example_motion(1), tmp_path / "plain.bvh")
    marked = tmp_path / "marked.bvh"
    marked.write_bytes(plain.read_text().encode(encoding))
    np.testing.assert_array_equal(kd.retarget.read(marked).positions, kd.retarget.read(plain).positions)


def test_devices_and_files_that_are_too_large_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="regular file"):
        read_bvh("/dev/zero")
    large = tmp_path / "large.bvh"
    with large.open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(InputError, match="bytes"):
        read_bvh(large)
