"""A body of a given height and mass: the table of segments, scaled."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kinodyn.description import solids
from kinodyn.description.human import table
from kinodyn.description.types import Inertia
from kinodyn.errors import InputError

MIN_HEIGHT, MAX_HEIGHT = 1e-3, 1e3  # [m]


@dataclass(frozen=True)
class Proportions:
    """Lengths [m], masses [kg] and inertias of a body that stands upright.

    `length`, `mass`, `com` and `gyration` are by segment name, the last two as in the table; `shoulder_height` is
    above the hips, `heel_to_ankle` along the ground; widths are from the middle of the body.
    """

    height: float
    total_mass: float
    length: Mapping[str, float]
    mass: Mapping[str, float]
    com: Mapping[str, float]
    gyration: Mapping[str, tuple[float, float, float]]
    ankle_height: float
    heel_to_ankle: float
    foot_length: float
    foot_width: float
    hip_half_width: float
    shoulder_half_width: float
    shoulder_height: float
    hand_span: float

    @property
    def torso_length(self) -> float:
        """Return the distance from the waist to the neck [m]."""
        return self.length["upper_trunk"] + self.length["middle_trunk"]

    def hanging(self, segment: str) -> Inertia:
        """Return the inertia of a segment that hangs from its upper end, the origin, along -z."""
        moments = self._moments(segment)
        return solids.principal(self.mass[segment], (0.0, 0.0, -self.com[segment] * self.length[segment]), moments)

    def standing(self, segment: str, bottom: float = 0.0) -> Inertia:
        """Return the inertia of a segment whose lower end is at height `bottom` [m] above the origin."""
        top = bottom + self.length[segment]
        com = (0.0, 0.0, top - self.com[segment] * self.length[segment])
        return solids.principal(self.mass[segment], com, self._moments(segment))

    def hand(self) -> Inertia:
        """Return the inertia of a hand that hangs from the wrist with the palm facing sideways.

        In the table the palm of the hand faces forward: its sagittal axis, normal to the palm, is along y here.
        """
        palm_normal, across, along = self._moments("hand")
        com = (0.0, 0.0, -self.com["hand"] * self.length["hand"])
        return solids.principal(self.mass["hand"], com, (across, palm_normal, along))

    def foot(self) -> Inertia:
        """Return the inertia of a foot in a frame at the ankle, x towards the toes.

        The table's foot points down like the leg, so that its longitudinal axis is x here and its sagittal axis z.
        The table does not give the height of the centre of mass: it is assumed halfway between ankle and ground.
        """
        up, across, along = self._moments("foot")
        forward = self.com["foot"] * self.foot_length - self.heel_to_ankle
        return solids.principal(self.mass["foot"], (forward, 0.0, -0.5 * self.ankle_height), (along, across, up))

    def _moments(self, segment: str) -> tuple[float, float, float]:
        x, y, z = self.mass[segment] * np.square(np.array(self.gyration[segment]) * self.length[segment])
        return float(x), float(y), float(z)


def proportions(height: float, mass: float, sex: table.Sex) -> Proportions:
    """Scale the table of segments to a body.

    Masses are the table's fractions of `mass` [kg], divided by their sum so that nothing is lost to rounding.
    Lengths scale with the height; those of the stacked segments, from the ankle to the top of the head, share the
    height above the ankle in the table's ratio, because the table's lengths, measured separately, add up to
    102 % (men) or 100 % (women) of that. The foot is as long as its sole, which the table's fractions then refer to.
    """
    _check(height, mass, sex)
    body = table.TABLES[sex]
    rows = body.segments
    fractions = sum(row.mass * (2 if name in table.PAIRED_SEGMENTS else 1) for name, row in rows.items())
    stack = (1.0 - table.ANKLE_HEIGHT) * height / sum(rows[name].length for name in table.STACKED_SEGMENTS)
    stature = height / body.stature
    length = {name: row.length * (stack if name in table.STACKED_SEGMENTS else stature) for name, row in rows.items()}
    length["foot"] = table.FOOT_LENGTH * height
    return Proportions(
        height=height,
        total_mass=mass,
        length=length,
        mass={name: mass * row.mass / fractions for name, row in rows.items()},
        com={name: row.com for name, row in rows.items()},
        gyration={name: row.gyration for name, row in rows.items()},
        ankle_height=table.ANKLE_HEIGHT * height,
        heel_to_ankle=table.HEEL_TO_ANKLE * table.FOOT_LENGTH * height,
        foot_length=table.FOOT_LENGTH * height,
        foot_width=table.FOOT_WIDTH * height,
        hip_half_width=table.HIP_HALF_WIDTH * height,
        shoulder_half_width=table.SHOULDER_HALF_WIDTH * height,
        shoulder_height=body.trunk_to_shoulder * stack,
        hand_span=body.hand_span * stature,
    )


def _check(height: object, mass: object, sex: object) -> None:
    for name, value, unit in (("height", height, "metres"), ("mass", mass, "kilograms")):
        if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
            raise InputError(f"{name} must be a number of {unit}, got {value!r}")
        if not (math.isfinite(value) and value > 0.0):
            raise InputError(f"{name} must be positive and finite, in {unit}, got {value!r}")
    if not MIN_HEIGHT <= float(height) <= MAX_HEIGHT:  # type: ignore[arg-type]
        raise InputError(f"height must be from {MIN_HEIGHT} to {MAX_HEIGHT:g} m, got {height!r}")
    if sex not in table.TABLES:
        raise InputError(f"sex must be one of {', '.join(map(repr, table.TABLES))}, got {sex!r}")
