"""Which other packages are installed, and which versions."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version

# What the tables call it -> the module to import and the package that brings it.
PEERS = {
    "robotics-toolbox": ("roboticstoolbox", "roboticstoolbox-python"),
    "EAIK": ("eaik.IK_Homogeneous", "EAIK"),
    "Placo": ("placo", "placo"),
    "Pink": ("pink", "pin-pink"),
    "mink": ("mink", "mink"),
    "DAQP": ("daqp", "daqp"),
    "qpsolvers": ("qpsolvers", "qpsolvers"),
    "Pinocchio": ("pinocchio", "pin"),
}

# Whole-body solvers and what each needs besides itself: mink's model is built by way of Pinocchio.
NEEDS = {
    "Placo": ("Placo", "Pinocchio"),
    "Pink": ("Pink", "Pinocchio", "DAQP", "qpsolvers"),
    "mink": ("mink", "Pinocchio", "DAQP", "qpsolvers"),
}


def missing(peer: str) -> str:
    """Say why a peer cannot run, "" when it can."""
    states = ((PEERS[name][1], state(name)) for name in NEEDS.get(peer, (peer,)))
    return next((f"{package} {reason}" for package, reason in states if reason), "")


def state(name: str) -> str:
    """Say what is wrong with one package, "" when it imports."""
    module = PEERS[name][0]
    try:
        import_module(module)
    except ImportError as error:
        absent = isinstance(error, ModuleNotFoundError) and (error.name or "").split(".")[0] == module.split(".")[0]
        return "not installed" if absent else f"does not import: {error}"
    return ""


def versions() -> dict[str, str]:
    """Tell the version of each peer, or that it is not there."""
    return {package: state(name) or version(package) for name, (_, package) in PEERS.items()}
