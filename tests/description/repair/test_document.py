"""Documents are edited in place: what no edit touches stays as written."""

from __future__ import annotations

import pytest

from kinodyn.description.repair.document import Document
from kinodyn.description.xml_tree import Node, parse_xml

TEXT = """<?xml version="1.0" encoding="utf-8"?>
<!-- <link name="not me"/> -->
<robot name='r "1"'   version = "1">
\t<link name="a &amp; b"><!-- kept --><inertial/></link>
    <link   name="c"
            kind='x'/>
    <joint name="j"><limit lower="1>0" upper="2"/></joint>
</robot>
<!-- end -->
"""


def _find(root: Node, name: str) -> Node:
    return next(node for node in root.children if node.attributes.get("name") == name)


def test_a_document_without_edits_is_the_same_to_the_byte():
    for data in (
        TEXT.encode(),
        TEXT.replace("utf-8", "latin-1").encode("latin-1"),
        TEXT.replace("\n", "\r\n").encode(),
    ):
        document = Document(data)
        assert document.encoded() == data
        assert not document.edited


def test_an_attribute_changes_and_nothing_else():
    document = Document(TEXT.encode())
    document.set(_find(document.root, "j").need("limit"), "upper", "3")
    document.set(_find(document.root, "c"), "kind", "y & z")
    assert document.text() == TEXT.replace('upper="2"', 'upper="3"').replace("kind='x'", 'kind="y &amp; z"')
    assert _find(parse_xml(document.text()), "c").attributes["kind"] == "y & z"


def test_elements_are_added_with_the_indentation_of_their_place():
    document = Document(TEXT.encode())
    link = document.add(_find(document.root, "c"), "visual", {})
    document.add(link, "origin", {"xyz": "0 0 1"})
    added = """    <link   name="c"
            kind='x'>
      <visual>
        <origin xyz="0 0 1"/>
      </visual>
    </link>"""
    assert document.text() == TEXT.replace("    <link   name=\"c\"\n            kind='x'/>", added)


def test_a_removed_element_takes_its_line_with_it():
    document = Document(TEXT.encode())
    document.remove(_find(document.root, "j"))
    assert document.text() == TEXT.replace('    <joint name="j"><limit lower="1>0" upper="2"/></joint>\n', "")


def test_edits_inside_a_removed_element_do_not_count():
    document = Document(TEXT.encode())
    joint = _find(document.root, "j")
    document.set(joint.need("limit"), "upper", "3")
    document.remove(joint.need("limit"))
    document.remove(joint)
    assert "joint" not in document.text()


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1", "utf-8-sig"])
def test_the_encoding_is_kept(encoding: str):
    name = "utf-8" if encoding == "utf-8-sig" else encoding
    text = f'<?xml version="1.0" encoding="{name}"?>\n<robot name="Käthe"><link name="é"/></robot>\n'
    document = Document(text.encode(encoding))
    document.set(document.root.children[0], "name", "è")
    assert document.encoded().decode(encoding) == text.replace("é", "è")
