"""Recordings as tables of pandas and xarray."""

from __future__ import annotations

import numpy as np
import pytest

import kinodyn as kd


def example() -> kd.Recording:
    robot = kd.load("planar2r")
    recording = kd.sim.simulate(robot, None, 0.05)
    rows = len(recording)
    forces = {"link2": np.arange(6.0 * rows).reshape(rows, 6)}
    signals = {"energy": np.arange(float(rows)), "com": np.ones((rows, 3))}
    arrays = (recording.time, recording.q, recording.v, recording.tau)
    return kd.Recording.from_robot(robot, *arrays, forces=forces, signals=signals)


def test_a_data_frame_has_a_column_for_each_number_and_the_time_as_index() -> None:
    pytest.importorskip("pandas")
    recording = example()
    frame = recording.to_pandas()
    np.testing.assert_array_equal(frame.index, recording.time)
    np.testing.assert_array_equal(frame["q.joint2"], recording.q[:, 1])
    np.testing.assert_array_equal(frame["forces.link2.fz"], recording.forces["link2"][:, 2])
    np.testing.assert_array_equal(frame["com.2"], 1.0)
    assert frame.shape == (len(recording), 3 * 2 + 6 + 1 + 3)


def test_a_dataset_has_named_axes() -> None:
    pytest.importorskip("xarray")
    recording = example()
    dataset = recording.to_xarray()
    np.testing.assert_array_equal(dataset["q"].sel(q_name="joint2"), recording.q[:, 1])
    np.testing.assert_array_equal(dataset["forces.link2"].sel(wrench="fz"), recording.forces["link2"][:, 2])
    assert dataset["tau"].dims == ("time", "v_name") and dataset.attrs["robot"] == "planar2r"


def test_a_batch_is_an_axis_of_a_dataset_and_no_data_frame() -> None:
    pytest.importorskip("xarray")
    time, zeros = np.arange(4.0), np.zeros((4, 3, 2))
    recording = kd.Recording("two", time, zeros, zeros, zeros, signals={"energy": np.zeros(4)})
    assert recording.to_xarray()["q"].dims == ("time", "batch_0", "q_name")
    with pytest.raises(kd.InputError, match="got a batch"):
        recording.to_pandas()
