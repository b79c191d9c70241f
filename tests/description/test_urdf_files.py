"""URDF: hostile, damaged and large files."""

from __future__ import annotations

import contextlib
import locale
import time
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinodyn.description.urdf import parse_urdf, read_urdf
from kinodyn.errors import DescriptionError, InputError

from .urdf_texts import BOX, LIMIT, hinge, parse_quietly, refusal, robot, the_joint


def test_an_error_beyond_line_65535_has_its_line_number() -> None:
    assert refusal(robot(*[""] * 70_000, '<link name="a"/>', "<link/>")).line == 70_003


ENTITIES = '<!DOCTYPE robot [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">{}]>'


LAUGHS = "".join(f'<!ENTITY {chr(c + 1)} "{f"&{chr(c)};" * 10}">' for c in range(ord("b"), ord("l")))


@pytest.mark.parametrize(
    "prolog",
    [
        "<!DOCTYPE robot>",
        '<!DOCTYPE robot SYSTEM "http://localhost:9/robot.dtd">',
        '<!DOCTYPE robot [<!ENTITY file SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE robot [<!ENTITY % remote SYSTEM "http://localhost:9/x"> %remote;]>',
        ENTITIES.format(LAUGHS),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_document_types_are_rejected_before_anything_in_them_is_read(prolog: str, encoding: str) -> None:
    text = f'<?xml version="1.0" encoding="{encoding}"?>\n{prolog}<robot name="&l;"><link name="&file;"/></robot>'
    start = time.process_time()
    error = refusal(text.encode(encoding))
    assert time.process_time() - start < 1.0
    assert error.line == 2
    assert "document type declaration, which is not supported" in str(error)


def test_an_entity_without_a_declaration_is_not_xml() -> None:
    assert "undefined entity" in str(refusal(robot('<link name="&file;"/>')))


def test_elements_nested_too_deeply_are_rejected() -> None:
    assert "nested deeper than 256" in str(refusal("<robot>" * 100_000 + "</robot>" * 100_000))


@given(
    cut=st.tuples(st.integers(0, 400), st.integers(0, 6)), put=st.sampled_from(["", "<", ">", '"', "/", "9", "-", "\0"])
)
def test_a_damaged_file_is_read_or_rejected_and_nothing_else(cut: tuple[int, int], put: str) -> None:
    text = hinge(f'<origin xyz="1 2 3" rpy="0 0 1"/><axis xyz="0 0 1"/>{LIMIT}').replace(
        '<link name="b"/>', f'<link name="b">{BOX}</link>'
    )
    start, length = cut
    with warnings.catch_warnings(), contextlib.suppress(DescriptionError):
        warnings.simplefilter("ignore")
        assert parse_urdf(text[:start] + put + text[start + length :]).links


@pytest.mark.parametrize("text", [None, 5, Path("arm.urdf")])
def test_input_that_is_not_text_is_rejected(text: object) -> None:
    with pytest.raises(InputError, match="text must be a string or bytes"):
        parse_urdf(text)  # type: ignore[arg-type]


def test_a_chain_of_twenty_thousand_links_loads_in_seconds() -> None:
    count = 20_000
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
    parts = [f'<link name="l{i}">{inertial}</link>' for i in range(count)]
    parts += [
        f'<joint name="j{i}" type="revolute"><origin xyz="0 0 1" rpy="0.1 0 0"/><parent link="l{i - 1}"/>'
        f'<child link="l{i}"/><axis xyz="0 1 0"/>{LIMIT}</joint>'
        for i in range(1, count)
    ]
    start = time.process_time()
    description = parse_quietly(robot(*parts))
    assert time.process_time() - start < 5.0
    assert (len(description.links), len(description.joints)) == (count, count - 1)


def test_numbers_have_a_decimal_point_in_every_locale() -> None:
    before = locale.setlocale(locale.LC_NUMERIC)
    for name in ("de_DE.UTF-8", "fr_FR.UTF-8", "German_Germany.1252", "C"):
        try:
            locale.setlocale(locale.LC_NUMERIC, name)
        except locale.Error:
            continue
        try:
            assert the_joint(hinge(f'<origin xyz="0.5 1.5e-3 -2."/>{LIMIT}')).T_parent_child[0, 3] == 0.5
            with pytest.raises(DescriptionError, match="not a list of numbers"):
                parse_urdf(hinge(f'<origin xyz="0,5 0 0"/>{LIMIT}'))
        finally:
            locale.setlocale(locale.LC_NUMERIC, before)


def test_a_description_keeps_its_source_path(tmp_path: Path) -> None:
    path = tmp_path / "arm.urdf"
    path.write_text(hinge(), encoding="utf-8")
    assert read_urdf(path).source == path
    assert read_urdf(str(path)).joints[0].name == "j"


@pytest.mark.parametrize(("name", "said"), [("absent.urdf", "does not exist"), ("", "cannot be read")])
def test_a_file_that_cannot_be_opened_is_reported(tmp_path: Path, name: str, said: str) -> None:
    with pytest.raises(DescriptionError, match=said) as caught:
        read_urdf(tmp_path / name)
    assert caught.value.file == tmp_path / name
    assert isinstance(caught.value.__cause__, OSError)
