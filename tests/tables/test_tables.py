"""Tables in files: every format returns what was written, columns follow one naming rule, broken files are rejected."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kinodyn import tables
from kinodyn.errors import InputError

RNG = np.random.default_rng(0)
ARRAYS = {"time": np.arange(5.0), "q": RNG.normal(size=(5, 2)), "M": RNG.normal(size=(5, 2, 3)), "on": np.arange(5) > 2}
LABELS = {"q": ("shoulder", "elbow"), "M": ("x", "y", "z")}


def test_columns_are_named_by_labels_and_numbers() -> None:
    names = list(tables.split_columns(ARRAYS, LABELS))
    assert names[:3] == ["time", "q.shoulder", "q.elbow"] and names[3:6] == ["M.0.x", "M.0.y", "M.0.z"]
    assert list(tables.split_columns({"M": ARRAYS["M"]}))[:4] == ["M.0.0", "M.0.1", "M.0.2", "M.1.0"]


@pytest.mark.parametrize("suffix", tables.SUFFIXES)
def test_every_number_survives_a_round_trip(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"run{suffix}"
    tables.write(path, ARRAYS, labels=LABELS)
    columns = tables.read(path).columns
    found = tables.stack(columns, "q", LABELS["q"])
    assert found is not None
    np.testing.assert_array_equal(found, ARRAYS["q"])
    np.testing.assert_array_equal(np.asarray(columns["on"], dtype=float), ARRAYS["on"])


@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
def test_a_described_table_survives_a_round_trip(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"run{suffix}"
    empty = {"none": np.zeros((5, 0))}
    tables.write(path, ARRAYS | empty, metadata={"robot": "arm"}, constants={"limit": np.array([-np.inf, 1.0])})
    columns, metadata = tables.read(path)
    assert metadata == {"robot": "arm"}
    for name, array in (ARRAYS | empty).items():
        np.testing.assert_array_equal(columns[name], array)
    np.testing.assert_array_equal(columns["limit"], [-np.inf, 1.0])


def test_text_and_missing_names_are_kept_apart_from_numbers(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_text("\ufeffname,value\nfirst,1\nsecond,\n", encoding="utf-8")
    columns = tables.read(path).columns
    assert columns["name"].tolist() == ["first", "second"]
    np.testing.assert_array_equal(columns["value"], [1.0, np.nan])
    path.write_text("1,2\n3,4\n")
    np.testing.assert_array_equal(tables.read(path).columns[""], [[1, 2], [3, 4]])


def test_invalid_tables_are_rejected(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    for content, said in (
        (b"", "0 lines"),
        (b"a,b\n1\n", "1 cells"),
        (b"a,a\n1,2\n", "same name"),
        (b"\xff\xfe", "CSV"),
    ):
        path.write_bytes(content)
        with pytest.raises(InputError, match=said):
            tables.read(path)
    with pytest.raises(InputError, match="two columns would be called 'a.0'"):
        tables.write(path, {"a": np.zeros((2, 1)), "a.0": np.zeros(2)})
    with pytest.raises(InputError, match="at most 1 are read"):
        tables.read(path, max_bytes=1)


DTYPES = ("f8", "f4", "f2", ">f8", "i8", "i4", "u1", "?", "U7")


@pytest.mark.parametrize("rows", [0, 1, 9, 5000])
def test_parquet_keeps_every_type(tmp_path: Path, rows: int) -> None:
    pytest.importorskip("pyarrow")
    numbers = np.random.default_rng(rows).integers(0, 200, size=(rows, 3))
    arrays = {dtype: numbers.astype(dtype) for dtype in DTYPES}
    arrays["special"] = np.resize([np.nan, -0.0, np.inf], rows)
    arrays["text"] = np.resize(["", "knee", "Fuß", "関節"], rows)
    tables.write(tmp_path / "table.parquet", arrays, metadata={})
    found = tables.read(tmp_path / "table.parquet").columns
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype == array.dtype.newbyteorder("=") or array.dtype.kind == "U"
    np.testing.assert_array_equal(np.signbit(found["special"]), np.signbit(arrays["special"]))


def test_parquet_works_without_the_import_of_pandas(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    code = (
        "import sys, numpy as np; from kinodyn import tables\n"
        f"file = {str(tmp_path / 'table.parquet')!r}\n"
        "text = {'on': np.ones(9, bool), 'name': np.array(['a'] * 9)}\n"
        "tables.write(file, {'q': np.zeros((9, 2)), 'n': np.arange(9), **text})\n"
        "print('pandas' in sys.modules)\n"
        "tables.write(file, {'q': np.zeros((9, 2)), 'n': np.arange(9)})\n"
        "tables.read(file)\n"
        "print('pandas' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=600)
    assert done.stdout.split() == ["False", "False"]


def test_numbers_that_parquet_has_no_type_for_are_refused(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    with pytest.raises(InputError, match="column 'z' is complex128"):
        tables.write(tmp_path / "table.parquet", {"z": np.zeros(3, dtype=complex)})
