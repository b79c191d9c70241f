"""Mutated files for every reader."""

from __future__ import annotations

import functools
import os
import random
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import kinodyn as kd
from fuzz import seeds
from fuzz.mutation import mutated
from fuzz.verdict import outcome
from kinodyn.description.meshes import read_mesh


@dataclass(frozen=True)
class Reader:
    """A reader, the suffix of its files, and a valid one. NaN in a table is what the file says."""

    suffix: str
    seed: seeds.Seed
    read: Callable[[Path], Any]
    finite: bool = True


def _text(content: str) -> seeds.Seed:
    return lambda _: content.encode()


@functools.cache
def _arm() -> kd.Robot:
    return kd.load("planar2r")


def _with_srdf(path: Path) -> Any:
    robot = path.with_name("robot.urdf")
    robot.write_text(seeds.URDF)
    return kd.load(robot, srdf=path)


def _moveit(path: Path) -> Any:
    return kd.interop.moveit.read_scene(path, _arm()).world


def _request(path: Path) -> Any:
    return kd.interop.moveit.read({}, path, _arm())[1]


def _human(path: Path) -> Any:
    from kinodyn.retarget.reading import read

    return read(path)


def _table(path: Path) -> Any:
    return kd.identification.read(path, _arm())


READERS = {
    "urdf": Reader(".urdf", _text(seeds.URDF), kd.load),
    "mjcf": Reader(".xml", _text(seeds.MJCF), kd.load),
    "repair_urdf": Reader(".urdf", _text(seeds.URDF), lambda path: kd.description.check(path)),
    "repair_mjcf": Reader(".xml", _text(seeds.MJCF), lambda path: kd.description.check(path)),
    "srdf": Reader(".srdf", _text(seeds.SRDF), _with_srdf),
    "xacro": Reader(".xacro", _text(seeds.XACRO), lambda path: kd.load(path, xacro=True)),
    "moveit_scene": Reader(".yaml", _text(seeds.SCENE), _moveit),
    "moveit_request": Reader(".yaml", _text(seeds.REQUEST), _request),
    "bvh": Reader(".bvh", _text(seeds.BVH), _human),
    "recording_npz": Reader(".npz", lambda folder: seeds.recording(".npz", folder), kd.Recording.load),
    "recording_parquet": Reader(".parquet", lambda folder: seeds.recording(".parquet", folder), kd.Recording.load),
    "table_csv": Reader(".csv", lambda folder: seeds.measurements(".csv", folder), _table),
    "table_npz": Reader(".npz", lambda folder: seeds.measurements(".npz", folder), _table),
    "table_parquet": Reader(".parquet", lambda folder: seeds.measurements(".parquet", folder), _table),
    "stl": Reader(".stl", lambda _: seeds.stl(), read_mesh),
    "obj": Reader(".obj", lambda _: seeds.OBJ, read_mesh),
    "glb": Reader(".glb", lambda _: seeds.glb(), read_mesh),
    "heights": Reader(".png", lambda _: seeds.image(), lambda path: kd.terrain.from_image(path)),
    "terrain_mjcf": Reader(".xml", _text(seeds.MJCF), lambda path: kd.terrain.from_mjcf(path)),
}


def cases(name: str) -> Iterator[tuple[str, Callable[[], str]]]:
    """Yield mutated files without end; the number of a case is its seed."""
    reader = READERS[name]
    with tempfile.TemporaryDirectory() as given:
        folder = Path(given)
        os.chdir(folder)
        (folder / "m.stl").write_bytes(seeds.stl())
        valid = reader.seed(folder)
        path = folder / f"case{reader.suffix}"
        path.write_bytes(valid)
        yield "valid", lambda: f"the valid file is refused: {wrong}" if (wrong := _valid(reader, path)) else ""
        number = 0
        while True:
            number += 1
            yield f"{number}", functools.partial(_run, reader, path, valid, number)


def _valid(reader: Reader, path: Path) -> str:
    try:
        reader.read(path)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def _run(reader: Reader, path: Path, valid: bytes, number: int) -> str:
    path.write_bytes(mutated(valid, random.Random(number)))
    return outcome(lambda: reader.read(path), finite=reader.finite)
