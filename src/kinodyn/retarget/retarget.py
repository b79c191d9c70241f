"""Human motion to a humanoid: the pipeline."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping

import numpy as np

from kinodyn.argument_types import check_types
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.retarget.body import Body
from kinodyn.retarget.contacts import find_contacts
from kinodyn.retarget.human import normalise
from kinodyn.retarget.keypoints import key_points
from kinodyn.retarget.motion import Motion
from kinodyn.retarget.reach import reachable
from kinodyn.retarget.reading import read
from kinodyn.retarget.repairs import repaired
from kinodyn.retarget.report import measure, summarise
from kinodyn.retarget.result import Retargeted
from kinodyn.retarget.solver import ClipSolver
from kinodyn.retarget.support import balanced_frames
from kinodyn.retarget.targets import make_targets

MAX_RATE = 1000.0  # [Hz]


@check_types
def retarget(
    motion: Motion | str | os.PathLike[str],
    robot: Robot,
    *,
    rate: float = 30.0,
    mapping: Mapping[str, str | Iterable[str]] | str | os.PathLike[str] | None = None,
    mirror: bool | None = None,
) -> Retargeted:
    """Retarget the motion of a human to a humanoid.

    The motion is scaled limb by limb; feet stand where the human's stand, and do not move while they do. All frames are
    solved together: the motion is smooth, within joint and velocity limits, and links keep apart.

    Parameters
    ----------
    motion
        A file (BVH, SMPL in NPZ, C3D, CSV of points) or a `Motion`.
    robot
        With a floating base and two legs. Feet, legs and arms are found by its structure.
    rate
        Frames per second of the result [Hz].
    mapping
        Names of joints or markers by key point, or a JSON file with them, for skeletons that are not recognised; see
        `key_points`.
    mirror
        Whether left and right are exchanged; None to detect motions in left-handed axes.

    Returns
    -------
    Retargeted
        With q (frames, nq), dt and a report.

    Raises
    ------
    InputError
        If the motion cannot be read or joints are missing; the message has their names.
    KinodynError
        If the robot does not stand on two feet with soles.

    Examples
    --------
    >>> import kinodyn as kd
    >>> human = kd.retarget.example_motion()  # three steps
    >>> result = kd.retarget.retarget(human, kd.load("humanoid"))
    >>> result.report.passed
    True
    """
    rate = checked_rate(rate)
    began = time.perf_counter()
    body = Body.from_robot(robot)
    source = motion if isinstance(motion, Motion) else read(motion, rate)
    human = normalise(source, key_points(source, mapping), rate, mirror)
    if len(human) < 3:
        raise InputError(f"{human.source}: at {rate:g} Hz it has {len(human)} frames; three are needed")
    feet = find_contacts(human)
    targets = make_targets(body, human, feet)
    balance = balanced_frames(human, feet)
    solver = ClipSolver(body, targets, feet.contacts, rate, balance)
    q, touching = repaired(solver, solver.solve())
    measured = measure(q, solver.paths, solver.lowest, targets, solver.contacts, solver.clearances, touching)
    reached = reachable(body, q, targets, measured.hands, measured.feet)
    report = summarise(q, measured, reached, targets, body, rate, time.perf_counter() - began, human.notes)
    return Retargeted(robot, q, 1.0 / rate, report, solver.contacts, human)


def checked_rate(rate: float) -> float:
    """Return a rate [Hz] as a float, or raise InputError."""
    if not isinstance(rate, int | float | np.number) or not 1.0 <= float(rate) <= MAX_RATE:
        raise InputError(f"rate must be from 1 to {MAX_RATE:g} Hz, got {rate!r}")
    return float(rate)
