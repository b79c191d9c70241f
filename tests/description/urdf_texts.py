"""URDF texts for the tests, and what is read from them."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from kinodyn.description.types import Description, Joint, Link
from kinodyn.description.urdf import parse_urdf
from kinodyn.errors import DescriptionError

LIMIT = '<limit lower="-1" upper="2" velocity="3" effort="4"/>'


BOX = '<visual><geometry><box size="1 2 3"/></geometry></visual>'


def robot(*lines: str) -> str:
    """Wrap lines into a robot; the first of them is line 2 of the text."""
    return "\n".join(['<robot name="test">', *lines, "</robot>"])


def hinge(inside: str = LIMIT, kind: str = "revolute") -> str:
    """Write a robot of two links with a joint, whose inside is line 5."""
    return robot(
        '<link name="a"/><link name="b"/>',
        f'<joint name="j" type="{kind}">',
        '<parent link="a"/><child link="b"/>',
        inside,
        "</joint>",
    )


def link(inside: str) -> str:
    """Write a robot of one link, whose inside is line 3."""
    return robot('<link name="a">', inside, "</link>")


def parse_quietly(text: str | bytes) -> Description:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return parse_urdf(text)


def the_joint(text: str) -> Joint:
    return parse_quietly(text).joints[0]


def the_link(text: str) -> Link:
    return parse_quietly(text).links[0]


def refusal(text: str | bytes) -> DescriptionError:
    with pytest.raises(DescriptionError) as caught:
        parse_urdf(text, file="robots/test.urdf")
    assert caught.value.file == Path("robots/test.urdf")
    assert str(caught.value).startswith(str(Path("robots/test.urdf")))
    return caught.value
