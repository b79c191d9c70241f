"""The mesh reader: formats, faults that it names, and files that must not exhaust time or memory."""

from __future__ import annotations

import json
import os
import struct
import time
from pathlib import Path

import numpy as np
import pytest
import trimesh

import kinodyn as kd
from kinodyn.description import meshes
from kinodyn.description.meshes import TriangleMesh, read_mesh, repaired

COLLADA = """<COLLADA><library_geometries><geometry id="g"><mesh>
<source id="s"><float_array>0 0 0 1 0 0 0 1 0</float_array></source>
<vertices id="v"><input semantic="POSITION" source="#s"/></vertices>
<triangles><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2</p></triangles>
</mesh></geometry></library_geometries>%s</COLLADA>"""


def box(path: Path) -> Path:
    trimesh.creation.box(extents=[0.1, 0.2, 0.3]).export(path)
    return path


@pytest.mark.parametrize("suffix", ["stl", "obj", "ply", "glb"])
def test_each_format_gives_the_same_closed_box(suffix: str, tmp_path: Path) -> None:
    mesh, faults = repaired(read_mesh(box(tmp_path / f"box.{suffix}")))
    assert faults == () and mesh.vertices.shape == (8, 3) and len(mesh) == 12
    np.testing.assert_allclose(np.ptp(mesh.vertices, axis=0), [0.1, 0.2, 0.3], rtol=1e-6)


def test_a_mirrored_mesh_faces_outwards(tmp_path: Path) -> None:
    mesh = read_mesh(box(tmp_path / "box.stl"), (2.0, -2.0, 2.0))
    assert trimesh.Trimesh(mesh.vertices, mesh.faces).volume == pytest.approx(8 * 0.006, rel=1e-6)


def test_faults_are_named_and_removed() -> None:
    solid = trimesh.creation.box(extents=[0.1, 0.1, 0.1])
    faces = np.concatenate([solid.faces[1:], solid.faces[3:5], [[0, 0, 1]]])
    mesh, faults = repaired(TriangleMesh(np.array(solid.vertices), faces))
    assert len(mesh) == 11
    assert faults == ("1 degenerate triangle", "2 duplicate triangles", "3 open edges")


@pytest.mark.parametrize("scale", [1000.0, 1e-5])
def test_an_implausible_size_is_a_fault(scale: float, tmp_path: Path) -> None:
    _, faults = repaired(read_mesh(box(tmp_path / "box.stl"), (scale,) * 3))
    assert len(faults) == 1 and "is the unit of the file the metre?" in faults[0]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.stl", b"", "cannot be read|no triangles"),
        ("noise.stl", bytes(range(256)) * 9, "cannot be read|no triangles"),
        ("noise.obj", b"f 1 2 3\n", "cannot be read|no triangles|does not exist"),
        ("text.ply", b"ply\nformat ascii 1.0\nelement vertex 3\nend_header\n", "cannot be read|no triangles"),
        ("noise.glb", b"glTF" + bytes(40), "cannot be read"),
        ("far.obj", b"v 3e38 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "beyond 1e\\+06 m"),
        ("nan.obj", b"v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "not finite|cannot be read"),
        ("mesh.step", b"", "meshes are read from"),
    ],
)
def test_an_unreadable_file_is_a_description_error(name: str, content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(kd.DescriptionError, match=message):
        read_mesh(tmp_path / name)


def test_a_missing_file_a_folder_and_a_pipe_are_errors(tmp_path: Path) -> None:
    (tmp_path / "folder.stl").mkdir()
    os.mkfifo(tmp_path / "pipe.stl")  # reading it would wait for ever
    for name, message in (("none.stl", "No such file"), ("folder.stl", "regular file"), ("pipe.stl", "regular file")):
        with pytest.raises(kd.DescriptionError, match=message):
            read_mesh(tmp_path / name)


def huge_stl(path: Path) -> None:
    with open(path, "wb") as file:
        file.write(bytes(80) + struct.pack("<I", 10**8))
        file.truncate(84 + 50 * 10**8)  # sparse: 10^8 triangles


def many_faces(path: Path) -> None:
    path.write_bytes(b"v 0 0 0\nv 1 0 0\nv 0 1 0\n" + b"f 1 2 3\n" * (meshes.MAX_TRIANGLES + 1))


def glb_of_zeros(path: Path) -> None:
    """A header that asks for 4e9 vertices without any data."""
    header = {
        "asset": {"version": "2.0"},
        "accessors": [{"componentType": 5126, "count": 4 * 10**9, "type": "VEC3"}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "nodes": [{"mesh": 0}],
        "scenes": [{"nodes": [0]}],
    }
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 4)
    size = struct.pack("<II", 2, 20 + len(text))
    path.write_bytes(b"glTF" + size + struct.pack("<II", len(text), 0x4E4F534A) + text)


def collada_of_instances(path: Path) -> None:
    """Each of 40 nodes contains the next one twice."""
    nodes = "".join(
        f'<node id="n{k}"><instance_node url="#n{k + 1}"/><instance_node url="#n{k + 1}"/></node>' for k in range(40)
    )
    last = '<node id="n40"><instance_geometry url="#g"/></node>'
    content = f"<library_nodes>{nodes}{last}</library_nodes>" + scene('<instance_node url="#n0"/>')
    path.write_text(COLLADA % content)


def collada_of_corners(path: Path) -> None:
    """One polygon that claims to have 10^9 corners."""
    polygon = '<polylist><input semantic="VERTEX" source="#v"/><vcount>1000000000</vcount><p>0 1 2</p></polylist>'
    content = COLLADA % scene('<instance_geometry url="#g"/>')
    path.write_text(content.replace("</mesh>", polygon + "</mesh>"))


def scene(content: str) -> str:
    node = f"<visual_scene><node>{content}</node></visual_scene>"
    return f"<library_visual_scenes>{node}</library_visual_scenes>"


@pytest.mark.parametrize(
    ("make", "suffix", "message"),
    [
        (huge_stl, "stl", "too large: more than 200 MB"),
        (many_faces, "obj", "too large"),
        (glb_of_zeros, "glb", "too large"),
        (collada_of_instances, "dae", "too large"),
        (collada_of_corners, "dae", "invalid"),
    ],
)
def test_a_mesh_bomb_is_rejected_in_bounded_time(make: object, suffix: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / f"bomb.{suffix}"
    make(path)
    start = time.process_time()
    with pytest.raises(kd.DescriptionError, match=message):
        read_mesh(path)
    assert time.process_time() - start < 10.0
