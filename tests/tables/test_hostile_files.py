"""Broken and hostile tables end in typed errors with the name of the file; files are written whole or not at all."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import time
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest

import kinodyn as kd
from kinodyn import tables
from kinodyn.errors import InputError
from kinodyn.tables.columns import check_size
from kinodyn.tables.output import write_file, write_text


def npz(path: Path, header: bytes, content: bytes = b"") -> Path:
    """Write an NPZ file with one array of this header."""
    stream = io.BytesIO()
    stream.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + content)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("time.npy", stream.getvalue())
    return path


BROKEN = {
    "header that is not Python": b"{'descr': '<f8', 'shape': (1,",
    "header with an open bracket": b"((((((((((((((((((",
    "pickled objects": b"{'descr': '|O', 'fortran_order': False, 'shape': (1,)}",
    "a huge array": b"{'descr': '<f8', 'fortran_order': False, 'shape': (999999999999,)}",
    "not text": b"\xff\xfe\x00",
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_array_names_the_file(name: str, tmp_path: Path) -> None:
    path = npz(tmp_path / "broken.npz", BROKEN[name], b"\0" * 8)
    for read in (tables.read, kd.Recording.load, lambda file: kd.identification.read(file, kd.load("planar2r"))):
        with pytest.raises(InputError, match=r"broken\.npz"):
            read(path)


def test_a_small_file_with_a_huge_table_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, time=np.zeros(2_000_000))
    assert path.stat().st_size < 100_000
    for read in (tables.read, kd.Recording.load):
        with pytest.raises(InputError, match="at most 1000000 are read"):
            read(path, max_bytes=1_000_000)
    with pytest.raises(InputError, match="at most 1000000 are read"):
        kd.identification.read(path, kd.load("planar2r"), max_bytes=1_000_000)


def test_the_default_limit_grows_with_the_file(tmp_path: Path) -> None:
    small, large, huge = tmp_path / "small.npz", tmp_path / "large.npz", tmp_path / "huge.npz"
    for path, size, allowed in ((small, 1, 2**28), (large, 2**26, 2**32), (huge, 2**27, 2**32)):
        with open(path, "wb") as stream:
            stream.truncate(size)
        check_size(path, allowed, None)
        with pytest.raises(InputError, match=f"at most {allowed} are read"):
            check_size(path, allowed + 1, None)
        check_size(path, allowed + 1, 2**40)


def test_zeros_for_a_gigabyte_in_a_small_file_are_refused_without_being_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "zeros.npz"
    content = b"\0" * 2**20
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for k in range(300):
            archive.writestr(f"signal.{k}.npy", content)
    tracemalloc.start()
    for read in (tables.read, kd.Recording.load, lambda file: tables.read_npz(file, "a trajectory", ["signal.0"])):
        with pytest.raises(InputError, match=r"zeros\.npz would unpack to 314572800 bytes"):
            read(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10e6


def test_an_array_that_declares_more_than_the_file_has_is_refused_before_memory_is_allocated(tmp_path: Path) -> None:
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (100000000, 2)}"
    path = npz(tmp_path / "liar.npz", header, b"\0" * 800)
    tracemalloc.start()
    with pytest.raises(InputError, match=r"liar\.npz: 'time' declares 1600000000 bytes; the file has 800"):
        tables.read(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10e6


@pytest.mark.parametrize("suffix", [".csv", ".npz", ".parquet"])
def test_random_bytes_are_an_error_with_the_name_of_the_file(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"noise{suffix}"
    path.write_bytes(np.random.default_rng(0).bytes(1000))
    with pytest.raises(InputError, match="noise"):
        tables.read(path)


def test_a_failed_write_keeps_the_old_file_and_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "kept.txt"
    path.write_text("old")

    def fail(stream: object) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(InputError, match=r"kept\.txt cannot be written: the disk is full"):
        write_file(path, fail)
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["kept.txt"]


def test_the_next_write_sweeps_what_a_killed_process_has_left(tmp_path: Path) -> None:
    path = tmp_path / "swept.txt"
    code = (
        "import sys, time; from pathlib import Path; from kinodyn.tables.output import write_file\n"
        "def write(stream):\n    stream.write(b'half'); stream.flush(); print('ready', flush=True); time.sleep(600)\n"
        f"write_file(Path({str(path)!r}), write)"
    )
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None and child.stdout.readline() == "ready\n"
    write_text(path, "other")  # the child still runs: its file stays
    assert len(os.listdir(tmp_path)) == 2
    child.kill()
    child.wait()
    child.stdout.close()
    write_text(path, "new")
    assert os.listdir(tmp_path) == ["swept.txt"] and path.read_text() == "new"


def test_a_link_is_followed_and_a_pipe_is_written_to(tmp_path: Path) -> None:
    target, link = tmp_path / "target.txt", tmp_path / "link.txt"
    target.write_text("old")
    os.symlink(target, link)
    write_text(link, "new")
    assert link.is_symlink() and target.read_text() == "new"
    write_text(Path(os.devnull), "nothing")
    assert not Path(os.devnull).is_file()


def test_other_hidden_files_are_not_swept(tmp_path: Path) -> None:
    other = tmp_path / ".data.txt.backup"
    other.write_text("keep")
    os.utime(other, (time.time() - 1e6,) * 2)
    write_text(tmp_path / "data.txt", "x")
    assert other.exists()


def test_a_member_that_is_not_an_array_is_an_error(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "table.npz", "w") as archive:
        archive.writestr("time.npy", b"not an array")
    with pytest.raises(InputError, match=r"'time' must be an array"):
        tables.read(tmp_path / "table.npz")
