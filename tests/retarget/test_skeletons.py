"""The same motion as other programs write it: other names, axes, units and rates."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.retarget import Motion, key_points
from kinodyn.retarget.human import normalise
from kinodyn.retarget.keypoints import REQUIRED, recognise

from .clips import bvh_of_points

SKELETONS = {
    "lafan1": ("{Side}UpLeg", "{Side}Leg", "{Side}Foot", "{Side}Arm", "{Side}ForeArm", "{Side}Hand", "{Side}Toe"),
    "mixamo": tuple(
        f"mixamorig:{{Side}}{part}" for part in ("UpLeg", "Leg", "Foot", "Arm", "ForeArm", "Hand", "ToeBase")
    ),
    "xsens": tuple(
        f"{{Side}}{part}" for part in ("UpperLeg", "LowerLeg", "Foot", "UpperArm", "ForeArm", "Hand", "Toe")
    ),
    "rokoko": tuple(f"{{Side}}{part}" for part in ("Thigh", "Shin", "Foot", "Arm", "ForeArm", "Hand", "Toe")),
    "bandai": tuple(
        f"{part}_{{S}}" for part in ("UpperLeg", "LowerLeg", "Foot", "UpperArm", "LowerArm", "Hand", "Toes")
    ),
}
PARTS = ("hip", "knee", "ankle", "shoulder", "elbow", "wrist", "toe")


def renamed(motion: Motion, pattern: tuple[str, ...]) -> Motion:
    """Name the key points of a motion as another program does."""
    names = list(motion.names)
    index = {name: k for k, name in enumerate(names)}
    found = recognise(motion)
    for part, form in zip(PARTS, pattern, strict=True):
        for side in ("left", "right"):
            if f"{side}_{part}" in found:
                own = found[f"{side}_{part}"][0]
                names[index[own]] = form.format(Side=side.capitalize(), S=side[0].upper())
    return Motion(tuple(names), motion.parents, motion.positions, motion.rate, "renamed")


def points_of(motion: Motion) -> dict[str, np.ndarray]:
    return normalise(motion, key_points(motion), 30.0).points


@pytest.mark.parametrize("skeleton", SKELETONS)
def test_names_of_other_programs_give_the_same_points(skeleton: str, tmp_path: Path) -> None:
    motion = kd.retarget.example_motion(3)
    file = bvh_of_points(renamed(motion, SKELETONS[skeleton]), tmp_path / "clip.bvh")
    expected, found = points_of(motion), points_of(kd.retarget.read(file))
    for key in REQUIRED:
        assert np.allclose(found[key], expected[key], atol=1e-6), key


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 2, 0), (2, 0, 1)], ids=["z up", "y up", "x up"])
@pytest.mark.parametrize("units", [1.0, 100.0, 1000.0, 1.0 / 0.0254], ids=["m", "cm", "mm", "inch"])
def test_axes_and_units_do_not_change_the_points(order: tuple[int, ...], units: float) -> None:
    motion = kd.retarget.example_motion(3)
    positions = units * motion.positions[:, :, list(order)]
    found, expected = points_of(Motion(motion.names, motion.parents, positions, motion.rate)), points_of(motion)
    for key in REQUIRED:
        assert np.allclose(found[key], expected[key], atol=1e-9), key


@pytest.mark.parametrize("rate", [120.0, 180.0, 240.0])
def test_files_at_higher_rates_give_the_same_points(rate: float, tmp_path: Path) -> None:
    motion = kd.retarget.example_motion(3)
    every = round(rate / motion.rate)
    time = np.arange((len(motion) - 1) * every + 1) / every
    flat = motion.positions.reshape(len(motion), -1)
    dense = np.column_stack([np.interp(time, np.arange(len(motion)), column) for column in flat.T])
    finer = Motion(motion.names, motion.parents, dense.reshape(len(time), -1, 3), rate)
    found = points_of(kd.retarget.read(bvh_of_points(finer, tmp_path / "clip.bvh"), 30.0))
    expected = points_of(motion)
    for key in REQUIRED:
        assert np.allclose(found[key], expected[key], atol=1e-6), key


def test_a_mirrored_clip_is_reported_and_mirrored_back() -> None:
    motion = kd.retarget.example_motion(3)
    mirrored = Motion(motion.names, motion.parents, motion.positions * [1.0, -1.0, 1.0], motion.rate)
    human = normalise(mirrored, key_points(mirrored), 30.0)
    assert any("mirrored" in note for note in human.notes)
    for key in REQUIRED:
        assert np.allclose(human.points[key], points_of(motion)[key], atol=1e-9), key
