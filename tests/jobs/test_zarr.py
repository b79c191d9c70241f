"""Zarr arrays and groups as inputs of jobs."""

import json

import numpy as np
import pytest

import kinodyn as kd

pytest.importorskip("pyarrow")
zarr = pytest.importorskip("zarr")


def group(path, **arrays):
    opened = zarr.open_group(str(path), mode="w", zarr_format=2)
    for name, array in arrays.items():
        opened.create_array(name, data=array, chunks=(7, *array.shape[1:]))
    return path


def test_the_arrays_of_a_group_are_columns(tmp_path, threads):
    a, b = np.arange(50.0), np.arange(100.0).reshape(50, 2)
    folder = group(tmp_path / "in.zarr", a=a, b=b)
    job = kd.jobs.map(lambda c: c["a"] + c["b"][:, 1], folder, out=tmp_path / "out", engine=threads, shard=9)
    np.testing.assert_array_equal(job.read()["result"], a + b[:, 1])


@pytest.mark.parametrize("version", [2, 3])
def test_a_single_array_comes_as_rows(tmp_path, threads, version):
    x = np.random.default_rng(1).normal(size=(31, 3))
    opened = zarr.create_array(str(tmp_path / "x"), shape=x.shape, chunks=(10, 3), dtype=x.dtype, zarr_format=version)
    opened[:] = x
    job = kd.jobs.map(np.square, tmp_path / "x", out=tmp_path / "out", engine=threads, shard=8)
    np.testing.assert_array_equal(job.read()["result"], x**2)
    opened[30, 2] = 4.0
    with pytest.raises(kd.InputError, match="inputs was"):
        kd.jobs.map(np.square, tmp_path / "x", out=tmp_path / "out", engine=threads, shard=8)


def test_pickles_and_broken_folders_are_refused(tmp_path, threads):
    def run(folder):
        return kd.jobs.map(np.square, folder, out=tmp_path / "out", engine=threads)

    folder = group(tmp_path / "in.zarr", a=np.arange(9.0))
    metadata = json.loads((folder / "a" / ".zarray").read_text())
    for filters, message in (
        ([{"id": "pickle", "protocol": 5}], "must not use pickles"),
        (None, "no arrays|cannot be"),
    ):
        text = json.dumps({**metadata, "filters": filters, "shape": metadata["shape"] if filters else "x"})
        (folder / "a" / ".zarray").write_text(text)
        with pytest.raises(kd.InputError, match=message):
            run(folder)
    (folder / "a" / ".zarray").write_text("{")
    with pytest.raises(kd.InputError, match="cannot be read as Zarr"):
        run(folder)
    uneven = group(tmp_path / "uneven.zarr", a=np.arange(9.0), b=np.arange(8.0))
    with pytest.raises(kd.InputError, match="same number of rows"):
        run(uneven)
