"""How the root of a robot stands in the world: bolted down or free."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Literal

from kinodyn.description.types import Description, Joint, Link
from kinodyn.errors import InputError

Base = Literal["fixed", "floating"]

ROOT_JOINT = "root_joint"


def with_base(description: Description, base: Base | None = None) -> Description:
    """Return the description with the base that is asked for; its `base` then says which it is.

    Parameters
    ----------
    description
        A valid description.
    base
        "floating": the robot moves freely in the world. Unless it does so already, a link `world` (`universe` if
        that name is taken) and a floating joint `root_joint` from it to the old root are put in front.
        "fixed": floating joints that lead from a massless root to the robot become fixed ones.
        None: what the description says; whatever floating joints it already has stay.

    Named configurations and chains lose what they say of a root joint that the robot does not have.
    """
    if base not in (None, "fixed", "floating"):
        raise InputError(f"base={base!r} is unknown; give 'fixed', 'floating' or None")
    is_free = floating_joint(description) is not None
    if base == "floating" or (base is None and (is_free or description.base == "floating")):
        freed = description if is_free else _put_on_floating_joint(description)
        return replace(_without_ghosts(freed), base="floating")
    grounded = _bolt_down(description) if base == "fixed" else description
    return replace(_without_ghosts(grounded), base="fixed")


def floating_joint(description: Description) -> Joint | None:
    """Return the floating joint on which the robot hangs below a root that is only the world, None without one.

    Such a root has no mass, and whatever else is on it is fixed (a table) or floats as well (a ball); then the first
    floating joint counts.
    """
    joints = list(_joints_of_empty_root(description))
    floating = [joint for joint in joints if joint.kind == "floating"]
    others_fixed = all(joint.kind in ("fixed", "floating") for joint in joints)
    return floating[0] if floating and others_fixed else None


def _joints_of_empty_root(description: Description) -> Iterator[Joint]:
    """Yield the joints below the root, none when the root has mass."""
    children = {joint.child for joint in description.joints}
    root = next(link for link in description.links if link.name not in children)
    if root.inertia is None or root.inertia.mass == 0.0:
        yield from (joint for joint in description.joints if joint.parent == root.name)


def _put_on_floating_joint(description: Description) -> Description:
    children = {joint.child for joint in description.joints}
    root = next(link.name for link in description.links if link.name not in children)
    world = _free_name(("world", "universe"), {link.name for link in description.links})
    name = _free_name((ROOT_JOINT,), {joint.name for joint in description.joints})
    return replace(
        description,
        links=(Link(world), *description.links),
        joints=(Joint(name, "floating", world, root), *description.joints),
    )


def _bolt_down(description: Description) -> Description:
    loose = {joint.name for joint in _joints_of_empty_root(description) if joint.kind == "floating"}
    joints = (_fixed(joint) if joint.name in loose else joint for joint in description.joints)
    return replace(description, joints=tuple(joints)) if loose else description


def _fixed(joint: Joint) -> Joint:
    return replace(
        joint,
        kind="fixed",
        lower=-math.inf,
        upper=math.inf,
        velocity=math.inf,
        effort=math.inf,
        damping=0.0,
        friction=0.0,
        armature=0.0,
    )


def _without_ghosts(description: Description) -> Description:
    """Drop root joints that do not exist, or have become fixed, from configurations and chains."""
    ghosts = {joint.name for joint in _joints_of_empty_root(description) if joint.kind == "fixed"}
    if all(joint.name != ROOT_JOINT for joint in description.joints):
        ghosts.add(ROOT_JOINT)
    configurations = {
        name: {joint: position for joint, position in positions.items() if joint not in ghosts}
        for name, positions in description.configurations.items()
    }
    chains = {name: tuple(one for one in chain if one not in ghosts) for name, chain in description.chains.items()}
    return replace(description, configurations=configurations, chains=chains)


def _free_name(wanted: tuple[str, ...], taken: Collection[str]) -> str:
    for name in wanted:
        if name not in taken:
            return name
    number = 2
    while f"{wanted[-1]}_{number}" in taken:
        number += 1
    return f"{wanted[-1]}_{number}"
