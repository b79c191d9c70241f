"""Joint sliders: one per coordinate, between its limits, in a folder for each chain of the robot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import viser
from scipy.spatial.transform import Rotation

from kinodyn.arrays import Array
from kinodyn.model.compile import JointInfo
from kinodyn.model.robot import Robot
from kinodyn.viewer.gui import InputSync

STEP = 1e-3  # rad or m
BASE_RANGE = 2.0  # half the range of a floating base's position sliders [m]
ORIENTED = ("ball", "floating")
BASE, OTHERS = "Base", "Other joints"  # titles of groups
MIN_BRANCH_JOINTS = 2  # of a branch with a group of its own
MAX_OPEN = 12  # sliders of groups that are open at the start
OnMove: TypeAlias = Callable[["SliderCoordinate", float], None]


@dataclass(frozen=True)
class SliderCoordinate:
    """A coordinate that a slider moves.

    Attributes
    ----------
    label : str
        With the unit.
    joint : JointInfo
    part : int
        Index among the joint's coordinates; a ball or floating joint has its position, if any, then its rotation
        vector [rad].
    lower, upper : float
        Range [rad, m].
    """

    label: str
    joint: JointInfo
    part: int
    lower: float
    upper: float

    def read(self, q: Array) -> float:
        """Return its value in q (nq,)."""
        return float(_values(self.joint, q)[self.part])

    def write(self, q: Array, value: float) -> Array:
        """Return a copy of q (nq,) with this coordinate changed."""
        values = _values(self.joint, q)
        values[self.part] = value
        changed = np.array(q)
        if self.joint.kind in ORIENTED:
            changed[self.joint.q] = [*values[:-3], *Rotation.from_rotvec(values[-3:]).as_quat()]
        else:
            changed[self.joint.q] = values
        return changed


def _values(joint: JointInfo, q: Array) -> Array:
    own = np.array(q[joint.q])
    if joint.kind not in ORIENTED:
        return own
    return np.concatenate([own[:-4], Rotation.from_quat(own[-4:]).as_rotvec()])


def slider_coordinates(robot: Robot) -> list[SliderCoordinate]:
    """Return the coordinates of all joints in order; unlimited ones get the range used for sampling."""
    lower, upper = robot.sampling_range()
    found = []
    for joint in robot.joints:
        if joint.mimic is not None:
            continue
        if joint.kind in ORIENTED:
            names = (["x", "y", "z"] if joint.kind == "floating" else []) + ["rotation x", "rotation y", "rotation z"]
            ends = [BASE_RANGE] * (len(names) - 3) + [3.141] * 3
            found += [
                SliderCoordinate(f"{joint.name} {name} {'[rad]' if ' ' in name else '[m]'}", joint, k, -end, end)
                for k, (name, end) in enumerate(zip(names, ends, strict=True))
            ]
            continue
        for k, name in enumerate(_part_names(joint)):
            where = joint.q.start + k
            low, high = _rounded(float(lower[where]), float(upper[where]))
            found.append(SliderCoordinate(f"{joint.name} {name}", joint, k, low, high))
    return found


def _part_names(joint: JointInfo) -> list[str]:
    """Return what follows the name of a joint in the labels of its sliders."""
    if joint.kind == "planar":
        return ["x [m]", "y [m]", "angle [rad]"]
    return ["[m]" if joint.kind == "prismatic" else "[rad]"]


def slider_groups(robot: Robot) -> dict[str, list[SliderCoordinate]]:
    """Return the coordinates by group: the chains of the description, or the branches of the tree; the base comes last.

    A chain without joints of its own, such as a whole arm next to its parts, has no group. A branch is a sequence of
    joints between two forks; short ones, such as a waist, belong to one group.
    """
    owner = _chain_of_joints(robot)
    if len(set(owner.values())) <= 1:
        owner = {**_branch_of_joints(robot), **owner}
    groups: dict[str, list[SliderCoordinate]] = {}
    base: list[SliderCoordinate] = []
    for coordinate in slider_coordinates(robot):
        joint = coordinate.joint
        of_base = joint.kind == "floating"
        (base if of_base else groups.setdefault(owner.get(joint.name, OTHERS), [])).append(coordinate)
    if OTHERS in groups:
        groups[OTHERS] = groups.pop(OTHERS)
    return {**groups, BASE: base} if base else groups


def _chain_of_joints(robot: Robot) -> dict[str, str]:
    """Return the chain of each joint: the shortest one that contains it."""
    owner: dict[str, str] = {}
    for name, joints in sorted(robot.description.chains.items(), key=lambda chain: len(chain[1])):
        for joint in joints:
            owner.setdefault(joint, _title(name))
    return owner


def _branch_of_joints(robot: Robot) -> dict[str, str]:
    """Return the branch of each joint, named after its last link; a robot without forks has one group."""
    above = {joint.child: joint for joint in robot.description.joints}
    moving = {joint.name: joint for joint in robot.joints if joint.mimic is None}

    def parent(name: str) -> str | None:
        link = moving[name].parent
        while link in above and above[link].name not in moving:
            link = above[link].parent
        return above[link].name if link in above else None

    parents = {name: parent(name) for name in moving}
    children: dict[str | None, list[str]] = {}
    for name, before in parents.items():
        children.setdefault(before, []).append(name)
    branches: list[list[str]] = []
    of_joint: dict[str, list[str]] = {}
    for name, before in parents.items():
        continues = before is not None and len(children[before]) == 1 and moving[before].kind not in ORIENTED
        branch = of_joint[before] if continues and before is not None else []
        if not branch:
            branches.append(branch)
        branch.append(name)
        of_joint[name] = branch
    if len(branches) == 1:
        return {}
    return {
        name: _title(moving[branch[-1]].child)
        for branch in branches
        if len(branch) >= MIN_BRANCH_JOINTS
        for name in branch
    }


def _title(name: str) -> str:
    """Return a name as the title of a folder: "left_arm" as "Left arm"."""
    words = name.replace("_", " ").strip()
    return words[:1].upper() + words[1:]


def _rounded(lower: float, upper: float) -> tuple[float, float]:
    """Round inwards to whole steps, for short labels; a narrow range is not changed."""
    if upper - lower < 10 * STEP:
        return lower, upper
    return round(np.ceil(lower / STEP - 1e-9) * STEP, 3), round(np.floor(upper / STEP + 1e-9) * STEP, 3)


class Sliders:
    """The sliders of a robot in the page.

    Parameters
    ----------
    gui : viser.GuiApi
    robot : Robot
    q : (nq,) array
        Initial configuration.
    moved : function of (coordinate, value)
        Called when a user moves a slider.
    """

    def __init__(self, gui: viser.GuiApi, robot: Robot, q: Array, moved: OnMove) -> None:
        groups = slider_groups(robot)
        self.coordinates = [coordinate for group in groups.values() for coordinate in group]
        self._sync = InputSync()
        self._handles: dict[str, viser.GuiSliderHandle[float]] = {}
        shown = 0
        for title, group in groups.items():
            shown += len(group)
            with gui.add_folder(title, expand_by_default=title != BASE and (shown <= MAX_OPEN or shown == len(group))):
                for coordinate in group:
                    self._handles[coordinate.label] = self._add(gui, coordinate, q, moved)

    def _add(
        self,
        gui: viser.GuiApi,
        coordinate: SliderCoordinate,
        q: Array,
        moved: OnMove,
    ) -> viser.GuiSliderHandle[float]:
        value = min(max(coordinate.read(q), coordinate.lower), coordinate.upper)
        handle = gui.add_slider(
            coordinate.label, coordinate.lower, max(coordinate.upper, coordinate.lower + STEP), STEP, value
        )

        def on_update(event: viser.GuiEvent[viser.GuiSliderHandle[float]]) -> None:
            if event.client_id is not None:  # None: set by the program, not by a user
                moved(coordinate, float(event.target.value))

        handle.on_update(on_update)
        return handle

    def show(self, q: Array) -> None:
        """Set the sliders to q (nq,); a value beyond a slider's range is shown at its end."""
        for coordinate in self.coordinates:
            value = min(max(coordinate.read(q), coordinate.lower), coordinate.upper)
            handle = self._handles[coordinate.label]
            if abs(handle.value - value) > 0.5 * STEP:
                self._sync.assign(handle, round(value, 4))
