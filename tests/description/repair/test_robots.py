"""Files of example-robot-data, as they are and with random faults, load and simulate after their repair."""

from __future__ import annotations

import warnings
from pathlib import Path

import mujoco
import numpy as np
import pytest

import kinodyn as kd
from kinodyn.description.example_robot_data import robot_files
from kinodyn.description.repair.document import Document

from . import mutations
from .stepping import stays_finite

pytestmark = pytest.mark.filterwarnings("ignore::kinodyn.errors.DescriptionWarning")

FILES = sorted({*robot_files().short.values(), *robot_files().stem.values()})
QUICK = ("romeo_small.urdf", "alex_psyonic_hands.urdf", "romeo_laas_small.urdf", "bolt.urdf", "double_pendulum.urdf")
SLOW = [pytest.param(file, marks=() if file.name in QUICK else pytest.mark.slow, id=file.stem) for file in FILES]
MUTATED = ("talos_reduced", "g1", "romeo", "ur5_robot", "tiago", "icub", "human", "hyq_no_sensors")


def _without_shapes(text: str) -> str:
    """Remove the shapes, whose files MuJoCo's own reader of URDF does not find or cannot read."""
    document = Document(text.encode())
    for link in document.root.all("link"):
        for shape in [child for child in link.children if child.tag in ("visual", "collision")]:
            document.remove(shape)
    return document.text()


@pytest.mark.parametrize("file", SLOW)
def test_a_file_has_no_findings_left_and_simulates_after_its_repair(file: Path, tmp_path: Path):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            kd.load(file)
            loads = True
        except kd.DescriptionError:
            loads = False
    report = kd.check(file, destination=tmp_path / "repaired.urdf")
    assert report.valid == loads
    assert bool(report.findings) or not caught
    if file.name == "ur3.urdf":  # it has no links
        assert not report.repairable
        return
    assert report.description is not None
    assert report.remaining == ()
    assert stays_finite(kd.sim.to_mujoco(kd.Robot(report.description, base="fixed"), contacts=False))
    assert stays_finite(mujoco.MjModel.from_xml_string(_without_shapes(report.repaired or "")))
    again = kd.check(report.write(tmp_path / "repaired.urdf"), packages=file.parents)
    assert again.repairs == ()


def _mutated(text: str, seed: int) -> str:
    rng = np.random.default_rng(seed)
    for index in rng.choice(len(mutations.URDF), int(rng.integers(1, 4)), replace=False):
        text = mutations.URDF[index](rng, text)
    return text


@pytest.mark.parametrize("seed", [*range(2), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 40))])
@pytest.mark.parametrize("name", MUTATED)
def test_random_faults_are_repaired(name: str, seed: int, tmp_path: Path):
    original = robot_files().find(name)
    assert original is not None
    path = tmp_path / original.name
    path.write_text(_mutated(original.read_text(), seed))
    packages = original.parents[:3]
    try:
        kd.load(path, packages=packages)
        loads = True
    except kd.DescriptionError:
        loads = False
    report = kd.check(path, packages=packages)
    assert report.valid == loads
    assert report.description is not None
    assert report.remaining == ()
    assert stays_finite(kd.sim.to_mujoco(kd.Robot(report.description, base="fixed"), contacts=False), 200)
