"""What `WalkResult` does not tell yet, in the words that its `summary()` will use."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

from kinodyn.errors import InputError

if TYPE_CHECKING:
    from kinodyn.robot import Robot


def call_walk(robot: Robot, velocity: tuple[float, float, float], **given: Any) -> Any:
    """Call `walk` with what it understands."""
    from kinodyn.sim import MujocoSettings
    from kinodyn.walking import walk

    known = {*inspect.signature(walk).parameters, *inspect.signature(MujocoSettings).parameters}
    unknown = sorted(set(given) - known)
    if unknown:
        raise InputError(f"walk does not take {', '.join(unknown)} in this version")
    return walk(robot, velocity, **given)


def summary_of(result: Any, velocity: tuple[float, float, float]) -> dict[str, Any]:
    """Give the figures of a walk by name."""
    if hasattr(result, "summary"):
        summary: dict[str, Any] = result.summary()
        return summary
    robot, tau = result.body.robot, np.abs(result.recording.tau)
    shares = (tau / robot.limits.effort).max(axis=0)[6:]
    names = result.recording.v_names[6:]
    return {
        "robot": robot.name,
        "walked": result.walked,
        "fallen": result.fallen,
        "distance": result.distance,
        "speed": result.speed,
        "commanded": float(np.hypot(*velocity[:2])),
        "steps": result.steps,
        "least_margin": result.least_margin,
        "mean_margin": result.mean_margin,
        "torque": dict(zip(names, shares.tolist(), strict=True)),
        "slip": result.slip,
        "cost_of_transport": result.cost_of_transport,
        "real_time": result.real_time,
        "tick_median": float(result.tick[0]),
        "tick_99": float(result.tick[1]),
        "tick_worst": float(result.tick[2]),
    }


def reason_of(result: Any) -> str:
    """Say why it did not walk."""
    if hasattr(result, "reason"):
        return str(result.reason)
    return f"it fell after {result.fallen:.2f} s" if result.fallen is not None else str(result.recording.reason)
