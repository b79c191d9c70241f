"""Peers: which are installed, and their versions."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version

# Name in the tables -> module to import, package that provides it.
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

# Whole-body solvers and what they need: mink's model is built through Pinocchio.
NEEDS = {
    "Placo": ("Placo", "Pinocchio"),
    "Pink": ("Pink", "Pinocchio", "DAQP", "qpsolvers"),
    "mink": ("mink", "Pinocchio", "DAQP", "qpsolvers"),
}


def missing(peer: str) -> str:
    """Return why a peer cannot run; "" if it can."""
    states = ((PEERS[name][1], state(name)) for name in NEEDS.get(peer, (peer,)))
    return next((f"{package} {reason}" for package, reason in states if reason), "")


def state(name: str) -> str:
    """Return why a package cannot be imported; "" if it can."""
    module = PEERS[name][0]
    try:
        import_module(module)
    except ImportError as error:
        absent = isinstance(error, ModuleNotFoundError) and (error.name or "").split(".")[0] == module.split(".")[0]
        return "not installed" if absent else f"does not import: {error}"
    return ""


def versions() -> dict[str, str]:
    """Return the version of each peer, or why it cannot be imported."""
    return {package: state(name) or version(package) for name, (_, package) in PEERS.items()}
