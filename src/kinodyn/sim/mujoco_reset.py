"""Reset the simulation settings of an MJCF file to MuJoCo's defaults: solver options and default classes.

Files come with options for other purposes, such as one iteration of the solver for training on a GPU, and with default
classes that would apply to whatever is added to them: motors with controls between -1 and 1, geoms without contacts.
"""

from __future__ import annotations

import mujoco as mj

MEDIUM = ("gravity", "density", "viscosity", "wind", "magnetic")  # options that describe the world, not the solver
_DISABLE = mj.mjtDisableBit
PHYSICS_FLAGS = (  # what a file may switch off that belongs to the robot; the others belong to the solver
    int(_DISABLE.mjDSBL_EQUALITY)
    | int(_DISABLE.mjDSBL_FRICTIONLOSS)
    | int(_DISABLE.mjDSBL_SPRING)
    | int(_DISABLE.mjDSBL_DAMPER)
    | int(_DISABLE.mjDSBL_FILTERPARENT)
)
DEFAULTS = {  # fields of default classes that would apply to elements that are added
    "geom": "type size contype conaffinity condim priority friction solmix solref solimp margin gap mass density group "
    "adhesion surfacevel",
    "mesh": "scale refpos refquat inertia maxhullvert",
    "site": "type size pos quat",
    "equality": "active solref solimp",
    "actuator": (
        "gear gaintype gainprm biastype biasprm dyntype dynprm ctrllimited ctrlrange forcelimited forcerange "
        "actlimited actrange lengthrange cranklength inheritrange armature damping delay nsample velrange ffrange"
    ),
}


def reset_solver(spec: mj.MjSpec) -> None:
    """Replace the options of the solver by MuJoCo's defaults."""
    default = mj.MjSpec().option
    for name in dir(default):
        if not name.startswith("_") and name not in (*MEDIUM, "disableflags"):
            setattr(spec.option, name, getattr(default, name))
    spec.option.disableflags &= PHYSICS_FLAGS


def reset_defaults(spec: mj.MjSpec) -> None:
    """Reset the default classes; elements that the file has already keep what they got from them."""
    fresh = mj.MjSpec()  # owns the defaults that are copied
    classes = {body.childclass for body in spec.bodies} - {"", "main"}
    for given in (spec.default, *(spec.find_default(name) for name in classes)):
        for kind, fields in DEFAULTS.items():
            source, target = getattr(fresh.default, kind), getattr(given, kind)
            for name in fields.split():
                if hasattr(source, name):  # fields differ between versions of MuJoCo
                    setattr(target, name, getattr(source, name))
