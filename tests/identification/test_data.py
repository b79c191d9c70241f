"""Recordings: files there and back, uneven and noisy samples, and what is rejected."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.errors import InputError, KinodynError, UnknownNameError
from kinodyn.identification import Measurements, join, measurements, prepare, read, simulate, torques

ROBOT = kd.load("planar2r")
MOTION = kd.identification.exciting_trajectory(ROBOT, period=4.0, starts=3, iterations=0)
TIME = MOTION.times(100)
DATA = simulate(ROBOT, TIME, *MOTION(TIME))
HUMAN = kd.load("humanoid")


def assert_same(found: Measurements, expected: Measurements) -> None:
    for name in ("time", "q", "v", "a", "tau"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    assert set(found.wrenches) == set(expected.wrenches)
    for frame, wrench in expected.wrenches.items():
        np.testing.assert_array_equal(found.wrenches[frame], wrench)


@pytest.mark.parametrize("suffix", ["csv", "npz", "parquet"])
def test_a_saved_recording_is_restored_exactly(tmp_path: Path, suffix: str) -> None:
    q = HUMAN.random(5, seed=1)
    rates = np.random.default_rng(0).normal(size=(3, 5, HUMAN.nv))
    tau = rates[2][:, 6:]
    floating = measurements(HUMAN, np.arange(5.0), q, tau, v=rates[0], a=rates[1], wrenches={"left_foot": q[:, :6]})
    for data in (DATA, floating):
        path = tmp_path / f"run.{suffix}"
        data.save(path)
        assert_same(read(path, data.robot), data)


def test_columns_may_be_numbered_renamed_or_superfluous(tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    columns = {"q0": DATA.q[:, 0], "q1": DATA.q[:, 1], "tau0": DATA.tau[:, 0], "torque2": DATA.tau[:, 1]}
    np.savez(path, stamp=TIME, battery=TIME, **columns)
    found = read(path, ROBOT, columns={"stamp": "time", "torque2": "tau.joint2"})
    np.testing.assert_array_equal(found.tau, DATA.tau)
    assert found.v is None and found.ignored == ("battery",)
    np.savez(path, time=TIME, q=DATA.q, tau=DATA.tau, v=DATA.v)
    np.testing.assert_array_equal(read(path, ROBOT).v, DATA.v)


BAD = "time,q.joint1,q.joint2,tau.joint1,tau.joint2\n0,0,0,0,0\n1,0,0,0,0\n"


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        (BAD.replace("q.joint2,", "q.elbow,"), UnknownNameError, "unknown column 'q.elbow'"),
        (BAD.replace(",tau.joint2", "").replace(",0,0,0,0", ",0,0,0"), InputError, "missing: tau.joint2"),
        (BAD.replace("time", "t"), InputError, "no column 'time'"),
        (BAD.replace("1,0,0,0,0", "1,0,,0,0"), InputError, "q has nan at row 1, column 'joint2'"),
        (BAD.replace("1,0,0,0,0", "1,0,x,0,0"), InputError, "row 1, column 'q.joint2' is 'x'"),
        (BAD.replace("1,0,0,0,0", "1,0,0,0"), InputError, "row 1 has 4 cells"),
        (BAD.replace("1,0,0,0,0", "0,0,0,0,0"), InputError, "time must increase; row 1"),
        (BAD.replace("q.joint2", "q.joint1"), InputError, "same name: q.joint1"),
        ("", InputError, "has 0 lines"),
        ("0,0,0,0,0\n1,0,0,0,0\n", InputError, "no column names"),
    ],
)
def test_an_invalid_file_is_rejected_with_the_location(
    tmp_path: Path, text: str, error: type[KinodynError], message: str
) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(error, match=message):
        read(path, ROBOT)


def test_other_files_are_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pickled = tmp_path / "pickled.npz"
    np.savez(pickled, time=np.array([{}], dtype=object))
    with pytest.raises(InputError, match="without pickle"):
        read(pickled, ROBOT)
    with pytest.raises(InputError, match="tables end in .csv, .npz, .parquet"):
        read(tmp_path / "run.xlsx", ROBOT)
    with pytest.raises(InputError, match="does not exist"):
        read(tmp_path / "none.csv", ROBOT)
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"PAR1 but no more")
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        read(broken, ROBOT)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(KinodynError, match=r"pip install 'kinodyn\[data\]'"):
        read(broken, ROBOT)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"q": DATA.q[:, :1]}, r"q must have shape \(400, 2\): joint1, joint2, ..."),
        ({"tau": np.where(np.arange(400)[:, None] == 7, np.inf, DATA.tau)}, "tau has inf at row 7, column 'joint1'"),
        ({"time": TIME[::-1]}, "399 such rows"),
        ({"time": TIME[:1]}, "at least 2 samples"),
        ({"q": DATA.q.astype(str)}, "q must be real numbers"),
    ],
)
def test_invalid_arrays_are_rejected_with_the_location(change: dict[str, Any], message: str) -> None:
    good: dict[str, Any] = {"time": TIME, "q": DATA.q, "tau": DATA.tau}
    with pytest.raises(InputError, match=message):
        measurements(ROBOT, **{**good, **change})


def test_wrenches_and_torques_of_a_base_are_checked() -> None:
    with pytest.raises(UnknownNameError, match="tail"):
        measurements(ROBOT, TIME, DATA.q, DATA.tau, wrenches={"tail": np.zeros((400, 6))})
    q = HUMAN.random(3)
    with pytest.raises(InputError, match="has no motor"):
        measurements(HUMAN, np.arange(3.0), q, np.ones((3, HUMAN.nv)))
    q[1, 3:7] = 0.5, 0.5, 0.5, 0.6
    with pytest.raises(InputError, match="quaternion of 'root_joint' has norm .* at row 1"):
        measurements(HUMAN, np.arange(3.0), q, np.zeros((3, HUMAN.nv)))


def test_velocities_and_accelerations_are_derivatives_of_the_motion() -> None:
    found = prepare(measurements(ROBOT, TIME, DATA.q, DATA.tau))
    _, v, a = MOTION(found.time)
    np.testing.assert_allclose(found.v, v, atol=1e-7)
    np.testing.assert_allclose(found.a, a, atol=1e-5)
    assert len(found) == len(DATA) - 12


@pytest.mark.parametrize(("cutoff", "tolerance"), [(None, 1e-9), (10.0, 1e-3)])
def test_the_rates_of_a_rotating_base_agree_with_the_exponential(cutoff: float | None, tolerance: float) -> None:
    """A base that turns and flies with a constant twist in its own axes."""
    twist = np.zeros(HUMAN.nv)
    twist[:6] = 0.3, -0.2, 0.1, 2.0, -1.0, 0.5
    time = np.arange(100) / 50
    q = HUMAN.integrate(HUMAN.neutral(), time[:, None] * twist)
    q[50:, 3:7] *= -1.0  # the same rotation
    found = prepare(measurements(HUMAN, time, q, np.zeros((100, HUMAN.nv))), cutoff=cutoff)
    np.testing.assert_allclose(found.v, np.tile(twist, (len(found), 1)), atol=tolerance)
    np.testing.assert_allclose(found.a, 0.0, atol=100 * tolerance)


def test_uneven_noisy_samples_are_resampled_and_filtered_without_delay() -> None:
    rng = np.random.default_rng(1)
    time = np.sort(rng.uniform(0.0, 4.0, 1200))
    q, v, a = MOTION(time)
    tau = torques(ROBOT, q, v, a)
    noise = 0.02 * np.std(tau, axis=0)
    raw = measurements(ROBOT, time, q + 1e-5 * rng.normal(size=q.shape), tau + noise * rng.normal(size=tau.shape))
    found = prepare(raw, cutoff=10.0)
    q, v, a = MOTION(found.time)
    np.testing.assert_allclose(np.diff(found.time), np.diff(found.time)[0])
    assert np.sqrt(np.mean((found.v - v) ** 2)) < 1e-3 and np.sqrt(np.mean((found.a - a) ** 2)) < 2e-2
    left = np.sqrt(np.mean((found.tau - torques(ROBOT, q, v, a)) ** 2, axis=0))
    assert (left < 0.5 * noise).all()
    assert len(prepare(raw, cutoff=10.0, rate=100.0)) == pytest.approx(100 * np.ptp(found.time), abs=1.5)


def test_wrapped_angles_of_a_continuous_joint_are_unwrapped(tmp_path: Path) -> None:
    path = tmp_path / "endless.urdf"
    kd.write_urdf(ROBOT.description, path)  # a joint without limits is continuous there
    robot = kd.load(path)
    assert {joint.kind for joint in robot.joints} == {"continuous"}
    q = np.stack([np.linspace(0.0, 12.0, 200)] * 2, axis=1)
    wrapped = (q + np.pi) % (2 * np.pi) - np.pi
    found = prepare(measurements(robot, np.arange(200) / 100, wrapped, 0 * q), cutoff=10.0)
    assert found.v is not None
    np.testing.assert_allclose(found.v[20:-20], 12.0 / 1.99, rtol=1e-3)


def test_preparation_rejects_unusable_data() -> None:
    raw = measurements(ROBOT, TIME, DATA.q, DATA.tau)
    with pytest.raises(InputError, match="cutoff must be below half the sampling rate, 50 Hz"):
        prepare(raw, cutoff=60.0)
    with pytest.raises(InputError, match="20 samples over .* are too few"):
        prepare(raw[:20], cutoff=10.0)
    keep = np.r_[0:100, 300:400]
    gap = measurements(ROBOT, TIME[keep], DATA.q[keep], DATA.tau[keep])
    with pytest.raises(InputError, match=r"after row 99.*data\[:100\] and data\[100:\]"):
        prepare(gap, cutoff=10.0)
    both = join(prepare(gap[:100], cutoff=10.0), prepare(gap[100:], cutoff=10.0))
    assert len(both) == 200 - 4 * (10 + 6) and (np.diff(both.time) > 0.0).all()


def test_recordings_are_cut_and_joined_without_loss() -> None:
    first, last = DATA.split(0.25)
    assert (len(first), len(last)) == (300, 100)
    assert_same(join(first, last), DATA)
    again = join(DATA, DATA)
    assert (np.diff(again.time) > 0.0).all() and len(again) == 800
    with pytest.raises(InputError, match="between 0 and 1"):
        DATA.split(1.5)
