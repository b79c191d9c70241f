"""Recordings: what they hold, files there and back, broken and hostile files, pictures."""

from __future__ import annotations

import copy
import csv
import json
import os
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import kinodyn as kd
from kinodyn.recording import Recording


def example(rows: int = 20, batch: tuple[int, ...] = ()) -> Recording:
    robot = kd.load("humanoid")
    rng = np.random.default_rng(0)
    return Recording.from_robot(
        robot,
        0.01 * np.arange(rows),
        robot.random((rows, *batch), seed=0),
        rng.normal(size=(rows, *batch, robot.nv)),
        rng.normal(size=(rows, *batch, robot.nv)),
        contacts={"left_sole": rng.uniform(size=(rows, *batch)) > 0.5},
        forces={"left_sole": rng.normal(size=(rows, *batch, 6))},
        signals={"energy": rng.normal(size=rows), "error": np.where(rng.normal(size=(rows, 2, 3)) > 2, np.nan, 1.0)},
        status="diverged",
        reason='at 0.2 s, joint "knee", because',
    )


def assert_same(one: Recording, other: Recording) -> None:
    assert dict(one.arrays()).keys() == dict(other.arrays()).keys()
    for name, array in one.arrays():
        np.testing.assert_array_equal(array, other.array(name), err_msg=name)
    for name, limit in one.limits.items():
        np.testing.assert_array_equal(limit, other.limits[name])
    for name in ("robot", "q_names", "v_names", "status", "reason"):
        assert getattr(one, name) == getattr(other, name)


@pytest.mark.parametrize("suffix", [".npz", ".parquet", ".NPZ"])
@pytest.mark.parametrize("batch", [(), (3,), (2, 2)])
def test_a_file_restores_every_number(tmp_path: Path, suffix: str, batch: tuple[int, ...]) -> None:
    recording = example(batch=batch)
    recording.save(tmp_path / f"run{suffix}")
    assert_same(recording, kd.Recording.load(tmp_path / f"run{suffix}"))


def test_a_csv_has_named_columns_and_every_digit(tmp_path: Path) -> None:
    recording = example()
    recording.save(tmp_path / "run.csv")
    with open(tmp_path / "run.csv", newline="", encoding="utf-8") as stream:
        header, *rows = csv.reader(stream)
    assert header[:2] == ["time", f"q.{recording.q_names[0]}"]
    column = [float(row[header.index("tau.left_knee")]) for row in rows]
    np.testing.assert_array_equal(column, recording.tau[:, recording.v_names.index("left_knee")])
    assert {"wrench.left_sole.fz", "contact.left_sole", "signal.energy", "signal.error.1.2"} <= set(header)


@pytest.mark.parametrize("suffix", [".npz", ".parquet", ".csv"])
def test_identification_reads_what_a_simulation_recorded(tmp_path: Path, suffix: str) -> None:
    robot = kd.load("puma560")
    recording = kd.sim.simulate(robot, lambda t, state: np.full(6, np.sin(5 * t)), 0.1)
    recording.save(tmp_path / f"run{suffix}")
    data = kd.identification.read(tmp_path / f"run{suffix}", robot)
    np.testing.assert_array_equal(data.tau, recording.tau)
    np.testing.assert_array_equal(data.q, recording.q)


def test_rows_are_cut_by_slices_and_by_time() -> None:
    recording = example()
    part = recording[5:11]
    np.testing.assert_array_equal(part.q, recording.q[5:11])
    np.testing.assert_array_equal(part.forces["left_sole"], recording.forces["left_sole"][5:11])
    assert len(recording.between(0.05, 0.1)) == 6 and part.duration == pytest.approx(0.05)
    for wrong in (3, slice(7, 7)):
        with pytest.raises(kd.InputError):
            recording[wrong]  # type: ignore[index]


def test_an_instant_is_looked_up_with_everything_that_belongs_to_it() -> None:
    recording = example()
    found = recording.at(0.057)
    np.testing.assert_array_equal(found["tau"], recording.tau[5])
    np.testing.assert_array_equal(found["forces.left_sole"], recording.forces["left_sole"][5])
    assert recording.at([0.0, 0.03, 0.19])["q"].shape == (3, 37)
    long = example(60)
    assert long.time[57] > 0.57  # by rounding
    for row in range(60):
        np.testing.assert_array_equal(long.at(float(f"0.{row:02d}"))["q"], long.q[row])
    with pytest.raises(kd.InputError, match="from 0 to 0.19"):
        recording.at(0.5)


def test_a_member_of_a_batch_is_a_recording_of_its_own() -> None:
    recording = example(batch=(3,))
    member = recording.member(2)
    np.testing.assert_array_equal(member.q, recording.q[:, 2])
    np.testing.assert_array_equal(member.forces["left_sole"], recording.forces["left_sole"][:, 2])
    np.testing.assert_array_equal(member.signals["energy"], recording.signals["energy"])  # shared by all
    with pytest.raises(kd.InputError, match="no member"):
        recording.member(3)


def test_signals_can_be_added_and_are_found_by_name() -> None:
    recording = example().with_signals(height=np.zeros(20))
    assert recording.array("height").shape == (20,)
    with pytest.raises(kd.UnknownNameError, match="heigth"):
        recording.array("heigth")


def test_arrays_are_copies_that_scipy_can_use() -> None:
    given = example()
    q = given.q.copy()
    recording = kd.Recording("robot", given.time, q, given.v, given.tau, signals={"com": np.ones((20, 3))})
    q[0, 0] += 1.0
    assert recording.q[0, 0] == given.q[0, 0]
    turned = Rotation.from_euler("z", np.pi / 2).apply(recording.signals["com"])
    np.testing.assert_allclose(turned, np.tile([-1.0, 1.0, 1.0], (20, 1)), atol=1e-12)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"time": np.zeros(20)}, "increasing"),
        ({"time": np.zeros((20, 1))}, "time"),
        ({"q": np.zeros((19, 37))}, "q must be"),
        ({"v": np.full((20, 36), np.nan)}, "not finite"),
        ({"tau": np.zeros((20, 3))}, "tau"),
        ({"signals": {"x": np.zeros(3)}}, "20 rows"),
        ({"signals": {"q": np.zeros(20)}}, "must not be called"),
        ({"signals": {"x": np.array(["a"] * 20)}}, "real numbers"),
        ({"signals": 3}, "mapping"),
        ({"forces": {"x": np.zeros((20, 3))}}, "forces"),
        ({"limits": {"lower": np.zeros(2)}}, "limits"),
        ({"q_names": ("a",) * 37}, "all different"),
        ({"status": "fine"}, "status"),
    ],
)
def test_invalid_recordings_are_rejected(changes: dict[str, Any], message: str) -> None:
    given = {name: getattr(example(), name) for name in ("time", "q", "v", "tau")}
    with pytest.raises(kd.InputError, match=message):
        Recording("robot", **{**given, **changes})


@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
def test_broken_files_are_rejected_with_their_name(tmp_path: Path, suffix: str) -> None:
    whole, broken = tmp_path / f"whole{suffix}", tmp_path / f"broken{suffix}"
    example().save(whole)
    data = bytearray(whole.read_bytes())
    rng = np.random.default_rng(0)
    cases = [b"", b"nonsense", bytes(data[: len(data) // 2]), bytes(data[len(data) // 2 :])]
    for _ in range(40):
        scratched = data.copy()
        for place in rng.integers(0, len(data), 20):
            scratched[place] = rng.integers(0, 256)
        cases.append(bytes(scratched))
    rejected = 0
    for case in cases:
        broken.write_bytes(case)
        try:
            kd.Recording.load(broken)
        except kd.InputError as error:
            rejected += 1
            assert broken.name in str(error)
    assert rejected >= 4  # a scratch may miss all that counts; anything but InputError fails the test


def test_an_archive_with_pickles_is_not_unpickled(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return os.mkdir, (str(tmp_path / "trapped"),)

    arrays = dict.fromkeys(("time", "q", "v", "tau"), np.array([Trap()], dtype=object))
    np.savez(tmp_path / "trap.npz", **arrays)  # type: ignore[arg-type]
    with pytest.raises(kd.InputError, match="without pickle"):
        kd.Recording.load(tmp_path / "trap.npz")
    assert not (tmp_path / "trapped").exists()


def test_an_archive_that_would_fill_the_memory_is_not_unpacked(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("q.npy", b"x")
        archive.infolist()[0].file_size = 1 << 40
    with pytest.raises(kd.InputError, match="would unpack to 1099511627776 bytes"):
        kd.Recording.load(tmp_path / "bomb.npz")


def test_files_of_another_kind_or_version_are_rejected(tmp_path: Path) -> None:
    np.savez(tmp_path / "other.npz", time=np.arange(3.0))
    with pytest.raises(kd.InputError, match="other.npz"):
        kd.Recording.load(tmp_path / "other.npz")
    about = json.dumps({"kind": "kinodyn recording", "version": 99}).encode()
    np.savez(tmp_path / "new.npz", about=np.frombuffer(about, dtype=np.uint8))
    with pytest.raises(kd.InputError, match="version 99"):
        kd.Recording.load(tmp_path / "new.npz")
    for name in ("none.npz", "run.csv", "run.txt"):
        with pytest.raises(kd.InputError):
            kd.Recording.load(tmp_path / name)
    for name in ("run.txt", "no/such/folder/run.npz"):
        with pytest.raises(kd.InputError):
            example().save(tmp_path / name)


def test_a_file_that_cannot_be_finished_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.npz"
    example().save(path)
    before = path.read_bytes()

    def fail(*_: Any, **__: Any) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr("numpy.savez_compressed", fail)
    with pytest.raises(kd.InputError, match="disk is full"):
        example().save(path)
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]


def test_plots_have_a_panel_for_each_column_and_show_limits(tmp_path: Path) -> None:
    robot = kd.load("panda")
    recording = kd.sim.simulate(robot, None, 0.3, q0=robot.random(seed=0))
    figure = recording.plot(columns=robot.joint_names[:2], path=tmp_path / "all.png")
    assert len(figure.axes) == 3 * 2 and (tmp_path / "all.png").stat().st_size > 10_000
    panel = next(axis for axis in figure.axes if axis.get_title().startswith(f"q {robot.joint_names[1]} "))
    limits = [line for line in panel.lines if line.get_linestyle() == "--"]
    title = panel.get_title()
    for limit in (robot.limits.lower[1], robot.limits.upper[1]):
        assert any(np.isclose(line.get_ydata()[0], limit) for line in limits) or f"{limit:.3g}" in title
    few = recording.plot("q", "tau", columns=[robot.joint_names[3]])
    assert len(few.axes) == 2
    with pytest.raises(kd.UnknownNameError):
        recording.plot("nothing")
    with pytest.raises(kd.UnknownNameError):
        recording.plot("q", columns=["elbow"])
    with pytest.raises(kd.InputError, match="too many"):
        example().plot()


def test_forces_contacts_signals_and_batches_can_be_drawn() -> None:
    recording = example(batch=(4,))
    figure = recording.plot("forces.left_sole", "contacts.left_sole", "energy")
    visible = [axis for axis in figure.axes if axis.get_visible()]
    assert len(visible) == 8 and len(visible[0].lines) == 4


def test_a_recording_can_be_pickled_and_copied() -> None:
    recording = kd.sim.simulate(kd.load("planar2r"), None, 0.01, signals={"sum": lambda t, state: state.q.sum()})
    for again in (pickle.loads(pickle.dumps(recording)), copy.copy(recording), copy.deepcopy(recording)):
        assert repr(again) == repr(recording)
        for (name, array), (_, other) in zip(recording.arrays(), again.arrays(), strict=True):
            np.testing.assert_array_equal(array, other, err_msg=name)
        with pytest.raises(TypeError):
            again.signals["sum"] = again.q
