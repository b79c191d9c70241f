"""Options of the MuJoCo model of a robot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import mujoco as mj

from kinodyn.argument_types import check_types
from kinodyn.checks import positive
from kinodyn.display import displayed
from kinodyn.dynamics.contact.ground import HeightField, Plane
from kinodyn.errors import InputError
from kinodyn.sim.loads import Load, checked_loads
from kinodyn.terrain import Terrain
from kinodyn.terrain.terrain import as_terrain

MujocoIntegrator = Literal["euler", "rk4", "implicit", "implicitfast"]
INTEGRATORS = {
    "euler": mj.mjtIntegrator.mjINT_EULER,
    "rk4": mj.mjtIntegrator.mjINT_RK4,
    "implicit": mj.mjtIntegrator.mjINT_IMPLICIT,
    "implicitfast": mj.mjtIntegrator.mjINT_IMPLICITFAST,
}


@check_types
@displayed
@dataclass(frozen=True)
class MujocoSettings:
    """Options of the MuJoCo model of a robot.

    The default contacts suit a rigid floor under torque control at 1 kHz: elliptic friction cones, friction ten times
    as stiff as the normal direction, contacts that settle within 5 ms, the solver's default tolerance.

    Attributes
    ----------
    dt : float
        Time step [s].
    integrator : "euler", "rk4", "implicit" or "implicitfast"
    contacts : bool
        Whether collision shapes make contact.
    floor : bool
        Whether there is a floor.
    limits : bool
        Whether joints stop at their position limits.
    joint_friction : bool
        Whether the Coulomb friction of the joints acts.
    ground : terrain.Terrain, contact.Plane, contact.HeightField or None
        Shape of the floor: level at z = 0 (None), a slope, heights on a grid, or any combination of shapes. MuJoCo
        interpolates heights by triangles, whatever the field's own interpolation, and there is no ground beyond the
        grid.
    loads : sequence of sim.Load
        Boxes that the robot carries.
    friction : float
        Friction coefficient of the floor, and of links with each other.
    mass_scale, friction_scale : float
        Model errors: factors on all masses and inertias, and on `friction`.
    contact_time : float
        Time constant of contacts and joint limits (`solref`), at least twice dt [s].
    impratio : float
        Stiffness of friction relative to the normal direction.
    """

    dt: float = 1e-3
    integrator: MujocoIntegrator = "implicitfast"
    contacts: bool = True
    floor: bool = True
    limits: bool = True
    joint_friction: bool = True
    friction: float = 1.0
    mass_scale: float = 1.0
    friction_scale: float = 1.0
    contact_time: float = 5e-3
    impratio: float = 10.0
    ground: Terrain | Plane | HeightField | None = None
    loads: Sequence[Load] = ()

    def __post_init__(self) -> None:
        for name in ("dt", "friction", "mass_scale", "friction_scale", "contact_time", "impratio"):
            positive(name, getattr(self, name))
        for name in ("contacts", "floor", "limits", "joint_friction"):
            if not isinstance(getattr(self, name), bool):
                raise InputError(f"{name} must be True or False, got {getattr(self, name)!r}")
        if self.integrator not in INTEGRATORS:
            raise InputError(f"integrator must be one of {', '.join(INTEGRATORS)}, got {self.integrator!r}")
        if self.contacts and self.contact_time < 2 * self.dt:
            raise InputError(f"contact_time must be at least twice dt = {self.dt:g} s, got {self.contact_time:g} s")
        as_terrain(self.ground)
        object.__setattr__(self, "loads", checked_loads(self.loads))
        if self.ground is not None and not (self.floor and self.contacts):
            raise InputError("ground needs floor=True and contacts=True")


def settings_of(given: dict[str, Any]) -> MujocoSettings:
    """Return settings from keyword arguments, or raise an error that names those that do not exist."""
    allowed = MujocoSettings.__dataclass_fields__
    unknown = sorted(set(given) - set(allowed))
    if unknown:
        raise InputError(f"unknown settings {', '.join(unknown)}; MujocoSettings has {', '.join(allowed)}")
    return MujocoSettings(**given)
