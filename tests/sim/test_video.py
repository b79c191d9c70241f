"""Images and videos that MuJoCo renders; where it cannot render here, only the refusals are tested."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import kinodyn as kd
from kinodyn.description.types import Shape
from kinodyn.sim import rendering
from kinodyn.sim.scene import Scene


@pytest.fixture(scope="module")
def opengl() -> None:
    """Skip where MuJoCo cannot render without a screen."""
    try:
        rendering.backend()
    except kd.InputError as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="module")
def recording() -> kd.Recording:
    return kd.sim.simulate(kd.load("planar2r"), None, 0.4, q0=np.array([1.0, 0.5]))


def test_images_show_the_robot_where_it_is(opengl: None) -> None:
    robot = kd.load("planar2r")
    images = kd.sim.render_images(robot, [[0.0, 0.0], [1.0, -0.5], [0.0, 0.0]], size=(96, 64))
    assert images.shape == (3, 64, 96, 3)
    assert images.dtype == np.uint8
    same, other = (np.abs(images[0].astype(int) - image.astype(int)).mean() for image in (images[2], images[1]))
    assert 3.0 * same < other  # edges of shadows differ


@pytest.mark.parametrize("suffix", [".gif", ".webp", ".mp4"])
def test_a_recording_becomes_a_video(opengl: None, recording: kd.Recording, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"swing{suffix}"
    kd.sim.render_video(kd.load("planar2r"), recording, path, fps=20.0, size=(96, 64), speed=0.5)
    if suffix == ".mp4":
        import imageio_ffmpeg

        count, seconds = imageio_ffmpeg.count_frames_and_secs(str(path))
        assert count == 17
        assert seconds == pytest.approx(0.85, abs=0.06)
        return
    with Image.open(path) as image:
        assert (image.width, image.height, image.info["loop"]) == (96, 64, 0)
        assert 2 <= image.n_frames <= 17  # equal images are joined


def test_every_robot_can_be_drawn_without_masses_and_with_terrain() -> None:
    robot = kd.load("humanoid")
    vertices = np.array([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.1], [-1.0, 1.0, 0.1]])
    scene = Scene(robot, {"vertices": vertices, "faces": np.array([[0, 1, 2], [0, 2, 3]])}, (64, 64))
    names = [link.name for link in scene.links]
    poses = kd.kinematics.poses(robot, robot.configuration("standing"), frames=names)
    scene.place(poses, np.zeros(3))
    np.testing.assert_allclose(scene.data.xpos[1:], poses[:, :3, 3], atol=1e-12)


def test_the_camera_follows_smoothly() -> None:
    points = np.stack([np.arange(100.0), np.sin(np.arange(100.0)), np.zeros(100)], axis=1)
    smooth = rendering._smoothed(points, 21)
    assert smooth.shape == points.shape
    np.testing.assert_allclose(smooth[20:80, 0], points[20:80, 0], atol=1e-9)
    assert np.abs(smooth[20:80, 1]).max() < 0.1


def test_without_opengl_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> subprocess.Popen[bytes]:
        code = "import sys; sys.stdin.read(); sys.exit('no OpenGL here')"
        return start([sys.executable, "-c", code], **__)

    start = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", broken)
    rendering.backend.cache_clear()
    try:
        with pytest.raises(kd.InputError, match=r"no OpenGL here.*apt install libegl1"):
            kd.sim.render_images(kd.load("planar2r"), [0.0, 0.0])
    finally:
        rendering.backend.cache_clear()


def test_without_ffmpeg_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(kd.InputError, match=r"kinodyn\[video\]"):
        kd.sim.require_video(tmp_path / "walk.mp4")


@pytest.mark.parametrize(
    "settings", [{"fps": 0.0}, {"fps": 1e6}, {"size": (101, 100)}, {"size": "640x480"}, {"size": (1, 2, 3)}]
)
def test_settings_are_checked(settings: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(kd.InputError):
        kd.sim.require_video(tmp_path / "walk.gif", **settings)


def test_the_camera_sees_the_shapes_of_a_robot_not_only_its_joints() -> None:
    robot = kd.load("planar2r")
    T_link_pole = np.eye(4)
    T_link_pole[2, 3] = 3.0
    pole = Shape("box", (0.02, 0.02, 6.0), T_link_pole)
    links = [
        replace(link, visuals=(*link.visuals, pole)) if link.name == "link2" else link
        for link in robot.description.links
    ]
    tall = kd.Robot(replace(robot.description, links=tuple(links)))
    view: dict[str, Any] = {"size": (96, 64), "azimuth": 0.0, "elevation": 0.0, "distance": None, "follow": None}
    before, after = (rendering.make_job(model, robot.neutral()[None], **view) for model in (robot, tall))
    assert before.view.distance < 5.0
    assert rendering.DISTANCE * 6.0 < after.view.distance < rendering.DISTANCE * 7.0
    assert after.lookat[0, 2] == pytest.approx(3.0, abs=0.1)
