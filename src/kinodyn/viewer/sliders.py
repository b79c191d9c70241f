"""Joint sliders: one per coordinate, between its limits."""

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
OnMove: TypeAlias = Callable[["SliderCoordinate", float], None]


@dataclass(frozen=True)
class SliderCoordinate:
    """A coordinate that a slider moves.

    Attributes
    ----------
    label : str
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
                SliderCoordinate(f"{joint.name} {name}", joint, k, -end, end)
                for k, (name, end) in enumerate(zip(names, ends, strict=True))
            ]
            continue
        names = ["x", "y", "angle"] if joint.kind == "planar" else [""]
        for k, name in enumerate(names):
            where = joint.q.start + k
            low, high = _rounded(float(lower[where]), float(upper[where]))
            found.append(SliderCoordinate(f"{joint.name} {name}".strip(), joint, k, low, high))
    return found


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
        self.coordinates = slider_coordinates(robot)
        self._sync = InputSync()
        base = [coordinate for coordinate in self.coordinates if coordinate.joint.kind == "floating"]
        rest = [coordinate for coordinate in self.coordinates if coordinate.joint.kind != "floating"]
        self._handles: dict[str, viser.GuiSliderHandle[float]] = {}
        for coordinate in rest:
            self._handles[coordinate.label] = self._add(gui, coordinate, q, moved)
        if base:
            with gui.add_folder("Base", expand_by_default=False):
                for coordinate in base:
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
