"""From a raw recording to one that can be fitted: evenly sampled, low-pass filtered without delay, differentiated."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.interpolate import BSpline, CubicSpline, make_lsq_spline

from kinodyn.arrays import Array
from kinodyn.checks import positive
from kinodyn.errors import InputError
from kinodyn.identification.columns import base_rows
from kinodyn.identification.measurements import Measurements
from kinodyn.model.robot import Robot

EVEN = 1e-3  # steps that differ by less than this share count as even
GAP = 50.0  # a step this many times the usual one is a gap
DEGREE = 5  # of the splines that are fitted
ORDER = 4  # of the Butterworth filter; run both ways it falls off like one of twice the order
# Central differences of sixth order: f'(t) = sum of weight * f(t + offset * step) / step.
OFFSETS = (-3, -2, -1, 1, 2, 3)
WEIGHTS = (-1 / 60, 3 / 20, -3 / 4, 3 / 4, -3 / 20, 1 / 60)
REACH = 3


def prepare(data: Measurements, *, cutoff: float | None = None, rate: float | None = None) -> Measurements:
    """Make a recording fit for identification: even samples, noise filtered out with zero phase, v and a found.

    Samples at uneven times are put on even ones by splines: through the samples, or with a cutoff by least squares with
    knots four times as dense as it, so that noise on samples close to each other is not blown up. Then a Butterworth
    filter of fourth order runs forwards and backwards over q, v, tau and wrenches alike, so that nothing is delayed
    against anything else. Velocities that were not recorded are the derivative of q (on the manifold, for quaternions),
    accelerations that of v. At both ends the samples that the filter or the differences spoil are cut off. The
    recording itself is not changed.

    Parameters
    ----------
    cutoff
        Frequency of the filter [Hz], well above that of the motion; no filter if none is given.
    rate
        Samples per second of the result; those of the recording, on average, unless given.

    Raises
    ------
    InputError
        For a cutoff above half the rate, for too few samples, and for gaps in the recording, with the row.
    """
    n, span = len(data), float(data.time[-1] - data.time[0])
    average = (n - 1) / span
    wanted = average if rate is None else positive("rate", rate)
    if cutoff is not None and not positive("cutoff", cutoff) < 0.5 * min(wanted, average):
        half = 0.5 * min(wanted, average)
        raise InputError(f"cutoff is {cutoff!r} Hz; half the sampling rate is {half:.6g} Hz, give less")
    _refuse_gaps(data, cutoff)
    trimmed = 0 if cutoff is None else math.ceil(average / cutoff)
    margin = trimmed + REACH * ((data.v is None) + (data.a is None))
    if n - 2 * margin < 2:
        raise InputError(
            f"{n} samples over {span:.6g} s are too few: filter and differences spoil {margin} at each end;"
            " record longer"
        )
    even = _evenly(data, average, cutoff)
    smooth = even if cutoff is None else _filtered(even, cutoff, average)
    whole = _differentiated(smooth, 1.0 / average)[margin : n - margin]
    return whole if rate is None else _at(whole, _times(whole.time, wanted), whole.q, _through)


def _refuse_gaps(data: Measurements, cutoff: float | None) -> None:
    """Find where samples are missing: what was in between cannot be made up."""
    steps = np.diff(data.time)
    longest = max(GAP * float(np.median(steps)), 0.0 if cutoff is None else 0.5 / cutoff)
    k = int(np.argmax(steps))
    if steps[k] > longest:
        raise InputError(
            f"{steps[k]:.6g} s pass without a sample after row {k}, with {np.median(steps):.3g} s between others;"
            f" prepare data[:{k + 1}] and data[{k + 1}:] each and put them together with kd.identification.join"
        )


def _continuous(robot: Robot, q: Array) -> Array:
    """Take out the jumps of angles by whole turns and of quaternions by sign."""
    q = q.copy()
    for joint in robot.joints:
        if joint.mimic is not None:
            continue
        if joint.kind == "continuous":
            q[:, joint.q] = np.unwrap(q[:, joint.q], axis=0)
        if joint.kind in ("ball", "floating"):
            part = slice(joint.q.stop - 4, joint.q.stop)
            against = (q[1:, part] * q[:-1, part]).sum(axis=1) < 0.0
            flips = np.concatenate([[False], np.cumsum(against) % 2 == 1])
            q[flips, part] *= -1.0
    return q


def _on_manifold(robot: Robot, q: Array) -> Array:
    for joint in robot.joints:
        if joint.kind in ("ball", "floating") and joint.mimic is None:
            part = slice(joint.q.stop - 4, joint.q.stop)
            q[:, part] /= np.linalg.norm(q[:, part], axis=1, keepdims=True)
    return q


def _evenly(data: Measurements, rate: float, cutoff: float | None) -> Measurements:
    """Put the samples at even times; leave them as they are where they are so already."""
    q = _continuous(data.robot, data.q)
    if np.abs(np.diff(data.time) * rate - 1.0).max() <= EVEN:
        return replace(data, q=q)
    knots = None if cutoff is None else _knots(data.time, 0.25 / cutoff)
    time = np.linspace(data.time[0], data.time[-1], len(data))

    def curve(at: Array, values: Array) -> BSpline | CubicSpline:
        return _through(at, values) if knots is None else make_lsq_spline(at, values, knots, DEGREE)

    return _at(data, time, q, curve)


def _through(time: Array, values: Array) -> CubicSpline:
    return CubicSpline(time, values, axis=0)


def _knots(time: Array, spacing: float) -> Array:
    """Place knots at samples, `spacing` and two samples apart or more, so that least squares has one answer."""
    inner, last = [], 0
    for k in range(DEGREE, len(time) - DEGREE):
        if time[k] - time[last] >= spacing and k - last >= 2:
            inner.append(time[k])
            last = k
    ends = np.ones(DEGREE + 1)
    return np.concatenate([ends * time[0], inner, ends * time[-1]])


def _times(time: Array, rate: float) -> Array:
    n = math.floor((time[-1] - time[0]) * rate + 1e-9) + 1
    return np.asarray(np.minimum(time[0] + np.arange(n) / rate, time[-1]))


def _at(data: Measurements, time: Array, q: Array, curve: Callable[[Array, Array], Any]) -> Measurements:
    """Take everything at other times, along curves through or near the samples."""

    def moved(values: Array) -> Array:
        result: Array = curve(data.time, values)(time)
        return result

    return replace(
        data,
        time=time,
        q=_on_manifold(data.robot, moved(q)),
        v=None if data.v is None else moved(data.v),
        a=None if data.a is None else moved(data.a),
        tau=moved(data.tau),
        wrenches={frame: moved(wrench) for frame, wrench in data.wrenches.items()},
    )


def _filtered(data: Measurements, cutoff: float, rate: float) -> Measurements:
    from scipy.signal import butter, sosfiltfilt  # takes long to import, and not everybody filters

    sections = butter(ORDER, cutoff, fs=rate, output="sos")
    # The filter starts from mirrored samples at each end: as many as its memory is long, as far as there are any.
    padding = min(len(data) - 1, 3 * math.ceil(rate / cutoff))

    def smooth(values: Array) -> Array:
        filtered: Array = sosfiltfilt(sections, values, axis=0, padlen=padding)
        return filtered

    tau = smooth(data.tau)
    tau[:, : base_rows(data.robot)] = 0.0
    return replace(
        data,
        q=_on_manifold(data.robot, smooth(data.q)),
        v=None if data.v is None else smooth(data.v),
        a=None if data.a is None else smooth(data.a),
        tau=tau,
        wrenches={frame: smooth(wrench) for frame, wrench in data.wrenches.items()},
    )


def _differentiated(data: Measurements, step: float) -> Measurements:
    """Find what was not recorded by central differences."""
    v = _padded(_position_rates(data.robot, data.q, step)) if data.v is None else data.v
    a = _padded(_rates(v, step)) if data.a is None else data.a
    return replace(data, v=v, a=a)


def _position_rates(robot: Robot, q: Array, step: float) -> Array:
    """Differentiate positions: in the tangent space of each sample the way to its neighbours is an ordinary vector."""
    n = len(q) - 2 * REACH
    here = q[REACH : REACH + n]
    rates = np.zeros((n, robot.nv))
    for offset, weight in zip(OFFSETS, WEIGHTS, strict=True):
        rates += weight / step * robot.difference(here, q[REACH + offset : REACH + offset + n])
    return rates


def _rates(v: Array, step: float) -> Array:
    n = len(v) - 2 * REACH
    parts = [
        weight / step * v[REACH + offset : REACH + offset + n] for offset, weight in zip(OFFSETS, WEIGHTS, strict=True)
    ]
    total: Array = np.sum(parts, axis=0)
    return total


def _padded(rates: Array) -> Array:
    """Give derivatives the length of what they are of; the ends, which are cut off later, are zero."""
    return np.pad(rates, ((REACH, REACH), (0, 0)))
