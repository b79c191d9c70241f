"""Repairs of the names of a URDF file and of its tree: duplicates, links that do not exist, several roots, loops."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from kinodyn.description.check_tree import find_loop
from kinodyn.description.free_name import free_name
from kinodyn.description.messages import listed
from kinodyn.description.repair.findings import Findings
from kinodyn.description.urdf.joints import URDF_KINDS
from kinodyn.description.xml_tree import Node

# Kinds of joints as other formats call them.
_SYNONYMS = {
    "hinge": "revolute",
    "rotational": "revolute",
    "rotary": "revolute",
    "slide": "prismatic",
    "slider": "prismatic",
    "linear": "prismatic",
    "translational": "prismatic",
    "rigid": "fixed",
    "weld": "fixed",
    "free": "floating",
    "freeflyer": "floating",
}


def repair_tree(findings: Findings) -> None:
    """Repair names, kinds of joints and the tree of links."""
    root = findings.document.root
    for tag in ("link", "joint"):
        _name_unnamed(findings, tag)
    for joint in root.all("joint"):
        _repair_kind(findings, joint)
    _repair_repeated_links(findings)
    _repair_repeated_joints(findings)
    _repair_ends(findings)
    _repair_parents(findings)
    _remove_loops(findings)
    _connect_roots(findings)


def end(joint: Node, tag: str) -> str:
    """Return the link at an end of a joint, "" if there is none."""
    node = joint.child(tag)
    return "" if node is None else node.attributes.get("link", "")


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name nearest to a misspelt one, None if none is close."""
    names = list(known)
    same = [other for other in names if other.lower() == name.strip().lower()]
    if len(same) == 1:
        return same[0]
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.8)
    return close[0] if close else None


def _names(findings: Findings, tag: str) -> list[str]:
    return [node.attributes.get("name", "") for node in findings.document.root.all(tag)]


def _name_unnamed(findings: Findings, tag: str) -> None:
    for node in findings.document.root.all(tag):
        if not node.attributes.get("name", "").strip():
            child = end(node, "child") if tag == "joint" else ""
            name = free_name(f"{child}_joint" if child else tag, _names(findings, tag))
            findings.set("error", node, "has no name; give it one", f'name="{name}"', name=name)


def _repair_kind(findings: Findings, joint: Node) -> None:
    kind = joint.attributes.get("type", "")
    if kind in URDF_KINDS:
        return
    meant = _SYNONYMS.get(kind.strip().lower()) or nearest(kind, URDF_KINDS)
    message = f"type={kind!r} is unknown; allowed are {', '.join(URDF_KINDS)}"
    if meant is None:
        findings.add("error", joint, message)
    else:
        findings.set("error", joint, message, f'type="{meant}"', type=meant)


def _repair_repeated_links(findings: Findings) -> None:
    """Rename the second of two links with one name, to a missing name that a joint uses if any; remove duplicates."""
    root = findings.document.root
    first: dict[str, Node] = {}
    for link in list(root.all("link")):
        name = link.attributes["name"]
        earlier = first.setdefault(name, link)
        if earlier is link:
            continue
        message = f"the name is used twice (first on line {earlier.line}); names must be unique"
        children = [joint for joint in root.all("joint") if end(joint, "child") == name]
        missing = _missing_links(findings)
        if not link.children or _content(link) == _content(earlier):
            findings.remove("error", link, message, "removed: it repeats the first")
        elif len(missing) == 1:
            reason = f'name="{missing[0]}", which a joint names and no link has'
            findings.set("error", link, message, reason, name=missing[0])
            first[missing[0]] = link
        else:
            new = free_name(name, _names(findings, "link"))
            moved = children[1] if len(children) > 1 else None
            reason = f'name="{new}"' + (f", as child of joint {moved.attributes['name']!r}" if moved else "")
            findings.set("error", link, message, reason, name=new)
            first[new] = link
            if moved is not None:
                findings.document.set(moved.need("child"), "link", new)


def _missing_links(findings: Findings) -> list[str]:
    names = _names(findings, "link")
    ends = [end(joint, tag) for joint in findings.document.root.all("joint") for tag in ("parent", "child")]
    return [name for name in dict.fromkeys(ends) if name and name not in names]


def _content(node: Node) -> object:
    return [(child.tag, child.attributes, _content(child)) for child in node.children]


def _repair_repeated_joints(findings: Findings) -> None:
    first: dict[str, Node] = {}
    for joint in list(findings.document.root.all("joint")):
        name = joint.attributes["name"]
        earlier = first.setdefault(name, joint)
        if earlier is joint:
            continue
        message = f"the name is used twice (first on line {earlier.line}); names must be unique"
        if _content(joint) == _content(earlier):
            findings.remove("error", joint, message, "removed: it is the same as the first")
            continue
        new = free_name(name, _names(findings, "joint"))
        findings.set("error", joint, message, f'name="{new}"; what follows {name!r} follows the first', name=new)
        first[new] = joint


def _trees(findings: Findings) -> dict[str, set[str]]:
    """Return the links that are not the child of any joint, each with the links below it and itself."""
    joints = list(findings.document.root.all("joint"))
    children = {end(joint, "child") for joint in joints}
    below: dict[str, list[str]] = {}
    for joint in joints:
        below.setdefault(end(joint, "parent"), []).append(end(joint, "child"))
    return {name: _below(name, below) for name in _names(findings, "link") if name not in children}


def _orphans(findings: Findings) -> list[str]:
    """Return the links that are not the child of any joint, without the root of the largest tree."""
    trees = _trees(findings)
    largest = max(trees, key=lambda name: len(trees[name]), default="")
    return [name for name in trees if name != largest]


def _below(link: str, below: dict[str, list[str]]) -> set[str]:
    """Collect the links below a link, itself included."""
    found: set[str] = set()
    stack = [link]
    while stack:
        name = stack.pop()
        if name not in found:
            found.add(name)
            stack.extend(below.get(name, ()))
    return found


def _repair_ends(findings: Findings) -> None:
    """Correct names of links that do not exist: a similar name, or for a child the one link without a joint."""
    links = _names(findings, "link")
    for joint in list(findings.document.root.all("joint")):
        for tag in ("parent", "child"):
            name = end(joint, tag)
            if name in links:
                continue
            meant = nearest(name, links) if name else None
            if tag == "child" and (meant is None or end(joint, "parent") in _trees(findings).get(meant, links)):
                alone = _orphans(findings)  # no similar name, or one that has a joint already or would close a loop
                meant = alone[0] if len(alone) == 1 else meant
            message = f"its {tag} does not exist: {name!r}" if name else f"has no <{tag}>; add one"
            node = joint.child(tag)
            if meant is None:
                findings.add("error", joint, message)
            elif node is None:
                findings.add("error", joint, message, f'<{tag} link="{meant}"/>, the link without a joint')
                findings.document.add(joint, tag, {"link": meant})
            else:
                findings.set("error", joint, message, f'{tag} link="{meant}"')
                findings.document.set(node, "link", meant)


def _repair_parents(findings: Findings) -> None:
    """Leave each link one parent joint: the second joint gets the one link without a joint as child, or is removed."""
    above: dict[str, Node] = {}
    for joint in list(findings.document.root.all("joint")):
        child = end(joint, "child")
        other = above.setdefault(child, joint)
        if other is joint or not child:
            continue
        message = f"link {child!r} is already the child of joint {other.attributes['name']!r}; a link has one parent"
        alone = [name for name in _orphans(findings) if name != end(joint, "parent")]
        if len(alone) == 1:
            findings.add("error", joint, message, f'child link="{alone[0]}", the link without a joint')
            findings.document.set(joint.need("child"), "link", alone[0])
            above[alone[0]] = joint
        else:
            findings.remove("error", joint, message, "removed: a robot is a tree")


def _remove_loops(findings: Findings) -> None:
    while True:
        above = {end(joint, "child"): joint for joint in findings.document.root.all("joint") if end(joint, "child")}
        loop = find_loop({child: end(joint, "parent") for child, joint in above.items()})
        if not loop:
            return
        message = f"closes a loop of links: {listed([loop[0], *reversed(loop)], limit=12)}; a robot is a tree"
        findings.remove("error", above[loop[0]], message, "removed: it closes the loop")


def _connect_roots(findings: Findings) -> None:
    root = findings.document.root
    alone = _orphans(findings)
    joints = list(root.all("joint"))
    children = {end(joint, "child") for joint in joints}
    main = next((name for name in _names(findings, "link") if name not in children and name not in alone), None)
    if main is None or any(not end(joint, tag) for joint in joints for tag in ("parent", "child")):
        return
    for name in alone:
        link = next(node for node in root.all("link") if node.attributes["name"] == name)
        new = free_name(f"{name}_joint", _names(findings, "joint"))
        message = f"there are {len(alone) + 1} roots: {listed([main, *alone])}; a robot has one root"
        findings.add("error", link, message, f"fixed joint {new!r} from {main!r} to it, with both frames at one place")
        joint = findings.document.add(root, "joint", {"name": new, "type": "fixed"})
        findings.document.add(joint, "parent", {"link": main})
        findings.document.add(joint, "child", {"link": name})
