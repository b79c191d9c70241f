"""Joint sliders: one for each coordinate, between its limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import viser
from scipy.spatial.transform import Rotation

from kinodyn.arrays import Array
from kinodyn.model.compile import JointInfo
from kinodyn.model.robot import Robot
from kinodyn.viewer.gui import Shown

STEP = 1e-3  # rad or m
REACH = 2.0  # m that a floating base's sliders reach about the origin
ORIENTED = ("ball", "floating")


@dataclass(frozen=True)
class Knob:
    """One number of a configuration that a slider moves: its label, its range, and the joint it belongs to.

    `part` is the place in the joint's own list: coordinates, or of a ball or floating joint the position, if there is
    one, then the rotation vector [rad].
    """

    label: str
    joint: JointInfo
    part: int
    lower: float
    upper: float

    def read(self, q: Array) -> float:
        """Read the number from q (nq,)."""
        return float(_values(self.joint, q)[self.part])

    def write(self, q: Array, value: float) -> Array:
        """Give q (nq,) with this number changed."""
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


def knobs(robot: Robot) -> list[Knob]:
    """List a knob for each coordinate of each joint that has any, in order; wide ones where there is no limit."""
    lower, upper = robot.sampling_range()
    found = []
    for joint in robot.joints:
        if joint.mimic is not None:
            continue
        if joint.kind in ORIENTED:
            names = (["x", "y", "z"] if joint.kind == "floating" else []) + ["turn x", "turn y", "turn z"]
            ends = [REACH] * (len(names) - 3) + [3.141] * 3
            found += [
                Knob(f"{joint.name} {name}", joint, k, -end, end)
                for k, (name, end) in enumerate(zip(names, ends, strict=True))
            ]
            continue
        names = ["x", "y", "angle"] if joint.kind == "planar" else [""]
        for k, name in enumerate(names):
            where = joint.q.start + k
            low, high = _rounded(float(lower[where]), float(upper[where]))
            found.append(Knob(f"{joint.name} {name}".strip(), joint, k, low, high))
    return found


def _rounded(lower: float, upper: float) -> tuple[float, float]:
    """Round inwards to whole steps, for short labels; a narrow range stays as it is."""
    if upper - lower < 10 * STEP:
        return lower, upper
    return round(np.ceil(lower / STEP - 1e-9) * STEP, 3), round(np.floor(upper / STEP + 1e-9) * STEP, 3)


class Sliders:
    """The sliders of a robot in the page.

    Parameters
    ----------
    gui
        Viser's panel.
    robot
    q
        Where it stands (nq,).
    moved
        Called with the knob and its new value when somebody moves a slider.
    """

    def __init__(self, gui: viser.GuiApi, robot: Robot, q: Array, moved: Callable[[Knob, float], None]) -> None:
        self.knobs = knobs(robot)
        self._shown = Shown()
        base = [knob for knob in self.knobs if knob.joint.kind == "floating"]
        rest = [knob for knob in self.knobs if knob.joint.kind != "floating"]
        self._handles: dict[str, viser.GuiSliderHandle[float]] = {}
        for knob in rest:
            self._handles[knob.label] = self._add(gui, knob, q, moved)
        if base:
            with gui.add_folder("Base", expand_by_default=False):
                for knob in base:
                    self._handles[knob.label] = self._add(gui, knob, q, moved)

    def _add(
        self, gui: viser.GuiApi, knob: Knob, q: Array, moved: Callable[[Knob, float], None]
    ) -> viser.GuiSliderHandle[float]:
        value = min(max(knob.read(q), knob.lower), knob.upper)
        handle = gui.add_slider(knob.label, knob.lower, max(knob.upper, knob.lower + STEP), STEP, value)

        def on_update(event: viser.GuiEvent[viser.GuiSliderHandle[float]]) -> None:
            if event.client_id is not None:  # not when we show where the robot is
                moved(knob, float(event.target.value))

        handle.on_update(on_update)
        return handle

    def show(self, q: Array) -> None:
        """Put the sliders where the robot stands; a number beyond its slider's ends shows at the end."""
        for knob in self.knobs:
            value = min(max(knob.read(q), knob.lower), knob.upper)
            handle = self._handles[knob.label]
            if abs(handle.value - value) > 0.5 * STEP:
                self._shown.assign(handle, round(value, 4))
