"""MJCF files that would make too much, or that name files elsewhere, are refused before MuJoCo reads them."""

from __future__ import annotations

import os
import struct
import zlib
from pathlib import Path

import pytest

import kinodyn as kd
from kinodyn.description.mjcf.reader import parse_mjcf, read_mjcf
from kinodyn.description.repair import check
from kinodyn.errors import DescriptionError
from kinodyn.terrain.files import from_mjcf

GEOM = '<geom size="0.1"/>'


def model(body: str, more: str = "") -> str:
    return f"<mujoco>{more}<worldbody>{body}</worldbody></mujoco>"


def stl(path: Path) -> Path:
    """Write a tetrahedron."""
    corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [struct.pack("<12fH", 0, 0, 0, *(x for k in face for x in corners[k]), 0) for face in faces]
    path.write_bytes(bytes(80) + struct.pack("<I", len(faces)) + b"".join(rows))
    return path


def with_mesh(name: str, compiler: str = "") -> str:
    return model(
        '<body><joint/><geom type="mesh" mesh="m"/></body>', f'{compiler}<asset><mesh name="m" file="{name}"/></asset>'
    )


BOMBS = {
    "replicate": model(f'<replicate count="100000000">{GEOM}</replicate>'),
    "nested replicates": model('<replicate count="300">' * 3 + GEOM + "</replicate>" * 3),
    "an endless number": model(f'<replicate count="1e999">{GEOM}</replicate>'),
    "flexcomp": model('<flexcomp name="f" type="grid" count="5000 5000 5000" spacing=".1 .1 .1" dim="3"/>'),
    "composite": model('<composite type="cable" count="900000 1 1" prefix="c"><geom size=".1"/></composite>'),
    "cloth": model('<flexcomp name="f" type="grid" count="400 400 1" spacing=".1 .1 .1" dim="2"/>'),
    "many copies": model(f'<replicate count="15000"><body>{GEOM}</body></replicate>'),
    "attributes": model("", "<custom " + " ".join(f'a{k}="1"' for k in range(20_000)) + "/>"),
    "height field": model("", '<asset><hfield name="h" nrow="100000" ncol="100000" size="1 1 1 1"/></asset>'),
    "texture": model("", '<asset><texture name="t" builtin="flat" width="90000" height="90000"/></asset>'),
    "numeric": model("", '<custom><numeric name="n" size="2000000000"/></custom>'),
    "memory": model(GEOM, '<size memory="900T"/>'),
    "user data": model(GEOM, '<size nuserdata="2000000000"/>'),
    "built-in mesh": model("", '<asset><mesh name="m" builtin="cone" params="1000000 1000000"/></asset>'),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_file_that_would_make_too_much_is_refused_at_once(name: str) -> None:
    with pytest.raises(DescriptionError, match="at most"):
        parse_mjcf(BOMBS[name])


def test_what_is_refused_in_one_reader_is_refused_in_all(tmp_path: Path) -> None:
    path = tmp_path / "bomb.xml"
    path.write_text(BOMBS["replicate"])
    for read in (read_mjcf, kd.load, from_mjcf):
        with pytest.raises(DescriptionError, match="elements"):
            read(path)
    assert any(finding.level == "error" for finding in check(path).remaining)


def test_reasonable_copies_load() -> None:
    description = parse_mjcf(model(f'<body><joint/><replicate count="50" offset="1 0 0">{GEOM}</replicate></body>'))
    assert len(description.links[1].collisions) == 50


def test_unfinished_comments_are_read_in_linear_time() -> None:
    with pytest.raises(DescriptionError, match="not XML"):
        parse_mjcf("<![CDATA[" + "<!--" * 20_000)
    with pytest.raises(DescriptionError, match="not XML"):
        parse_mjcf("<mujoco>" + "<!--" * 20_000)


@pytest.mark.parametrize("quat", ["inf 0 0 0", "inf 1 0 0", "1e300 1e300 0 0"])  # the norm of the last overflows
@pytest.mark.parametrize("element", ['<body quat="QUAT">{}</body>', '<geom size="1" quat="QUAT"/>'])
def test_a_rotation_that_is_not_finite_is_a_description_error(
    element: str, quat: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # MuJoCo writes a log of its own into the working folder here
    with pytest.raises(DescriptionError):
        parse_mjcf(model(element.replace("QUAT", quat).format("<joint/>" + GEOM)))


@pytest.mark.parametrize("quat", ["0 0 0 0", "inf 0 0 0", "1e300 1e300 0 0"])
def test_a_rotation_of_a_mesh_that_is_not_finite_is_a_description_error(
    quat: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    mesh = f'<mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1" refquat="{quat}"/>'
    with pytest.raises(DescriptionError):
        parse_mjcf(model('<geom type="mesh" mesh="m"/>', f"<asset>{mesh}</asset>"))


def test_a_model_that_attaches_itself_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "self.xml"
    path.write_text(
        model('<attach model="s" body="b" prefix="x"/>', '<asset><model name="s" file="self.xml"/></asset>')
    )
    with pytest.raises(DescriptionError, match="included by itself"):
        read_mjcf(path)


def test_an_image_of_many_pixels_is_refused(tmp_path: Path) -> None:
    header = b"IHDR" + struct.pack(">IIBBBBB", 90_000, 90_000, 8, 0, 0, 0, 0)
    image = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + header + struct.pack(">I", zlib.crc32(header))
    (tmp_path / "t.png").write_bytes(image)
    path = tmp_path / "m.xml"
    path.write_text(model("", '<asset><texture name="t" type="2d" file="t.png"/></asset>'))
    with pytest.raises(DescriptionError, match="90000 x 90000 pixels"):
        read_mjcf(path)


def test_a_pipe_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.stl")
    path = tmp_path / "m.xml"
    path.write_text(with_mesh("pipe.stl"))
    with pytest.raises(DescriptionError, match="not a regular file"):
        read_mjcf(path)


OUTSIDE = {
    "mesh": with_mesh("../../secret.stl"),
    "absolute mesh": with_mesh("{folder}/secret.stl"),
    "folder of meshes": with_mesh("secret.stl", '<compiler meshdir="../.."/>'),
    "include": '<mujoco><include file="../../secret.stl"/></mujoco>',
    "texture": model("", '<asset><texture name="t" type="2d" file="../../secret.stl"/></asset>'),
    "face of a cube": model("", '<asset><texture name="t" type="cube" fileright="../../secret.stl"/></asset>'),
    "height field": model("", '<asset><hfield name="h" file="../../secret.stl" size="1 1 1 1"/></asset>'),
    "flexcomp": model('<flexcomp name="f" type="mesh" file="../../secret.stl" dim="2"/>'),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_file_outside_of_the_folders_of_the_model_is_refused(tmp_path: Path, name: str) -> None:
    stl(tmp_path / "secret.stl")
    path = tmp_path / "a" / "b" / "m.xml"
    path.parent.mkdir(parents=True)
    path.write_text(OUTSIDE[name].replace("{folder}", str(tmp_path)))
    with pytest.raises(DescriptionError, match="outside of the folders"):
        read_mjcf(path)


def test_a_file_outside_is_read_on_request(tmp_path: Path) -> None:
    stl(tmp_path / "secret.stl")
    path = tmp_path / "a" / "b" / "m.xml"
    path.parent.mkdir(parents=True)
    path.write_text(OUTSIDE["mesh"])
    for more in ({"allow_outside": True}, {"packages": [tmp_path]}):
        assert kd.load(path, **more).description.links[1].collisions[0].mesh is not None


def test_meshes_beside_the_folder_of_the_model_are_read(tmp_path: Path) -> None:
    stl(tmp_path / "robot" / "meshes" / "arm" / "m.stl")
    path = tmp_path / "robot" / "mjcf" / "arm" / "m.xml"
    path.parent.mkdir(parents=True)
    path.write_text(with_mesh("m.stl", '<compiler meshdir="../../meshes/arm"/>'))
    assert read_mjcf(path).links[1].collisions[0].mesh is not None
