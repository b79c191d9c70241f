"""Preprocessing of recordings: even sampling, zero-phase low-pass filter, differentiation."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.interpolate import BSpline, CubicSpline, make_lsq_spline

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import positive
from kinodyn.errors import InputError
from kinodyn.identification.measurements import Measurements
from kinodyn.model.robot import Robot

EVEN_TOLERANCE = 1e-3  # relative difference up to which time steps are even
GAP_FACTOR = 50.0  # multiple of the median time step from which there is a gap
DEGREE = 5  # of the fitted splines
ORDER = 4  # of the Butterworth filter; applied in both directions it has twice the order
# Central differences of sixth order: f'(t) = sum of weight * f(t + offset * step) / step.
OFFSETS = (-3, -2, -1, 1, 2, 3)
WEIGHTS = (-1 / 60, 3 / 20, -3 / 4, 3 / 4, -3 / 20, 1 / 60)
HALF_WIDTH = 3  # of the differences


@check_types
def prepare(data: Measurements, *, cutoff: float | None = None, rate: float | None = None) -> Measurements:
    """Resample, filter and differentiate a recording.

    Uneven samples are resampled at even times by splines: interpolating or, with a cutoff, fitted by least squares with
    knots four times as dense, which does not amplify the noise of close samples. A fourth-order Butterworth filter then
    runs forwards and backwards over q, v, tau and wrenches, without delay. Velocities that were not recorded are the
    derivative of q (on the manifold, for quaternions), accelerations that of v. Samples at both ends that the filter or
    the differences distort are removed.

    Parameters
    ----------
    data : Measurements
    cutoff : float, optional
        Cutoff frequency of the filter [Hz], well above that of the motion; by default there is no filter.
    rate : float, optional
        Sampling rate of the result [Hz]; by default the average of the recording.

    Returns
    -------
    Measurements

    Raises
    ------
    InputError
        For a cutoff above half the rate, for too few samples, and for gaps in the recording, with the row.
    """
    n, span = len(data), float(data.time[-1] - data.time[0])
    average = (n - 1) / span
    desired = average if rate is None else positive("rate", rate)
    if cutoff is not None and not positive("cutoff", cutoff) < 0.5 * min(desired, average):
        half = 0.5 * min(desired, average)
        raise InputError(f"cutoff must be below half the sampling rate, {half:.6g} Hz, got {cutoff!r}")
    _reject_gaps(data, cutoff)
    trimmed = 0 if cutoff is None else math.ceil(average / cutoff)
    margin = trimmed + HALF_WIDTH * ((data.v is None) + (data.a is None))
    if n - 2 * margin < 2:
        raise InputError(
            f"{n} samples over {span:.6g} s are too few: filter and differences remove {margin} at each end;"
            " record longer"
        )
    even = _evenly(data, average, cutoff)
    smooth = even if cutoff is None else _filtered(even, cutoff, average)
    whole = _differentiated(smooth, 1.0 / average)[margin : n - margin]
    return whole if rate is None else _at(whole, _times(whole.time, desired), whole.q, _through)


def _reject_gaps(data: Measurements, cutoff: float | None) -> None:
    """Raise if samples are missing."""
    steps = np.diff(data.time)
    longest = max(GAP_FACTOR * float(np.median(steps)), 0.0 if cutoff is None else 0.5 / cutoff)
    k = int(np.argmax(steps))
    if steps[k] > longest:
        raise InputError(
            f"{steps[k]:.6g} s pass without a sample after row {k}, with {np.median(steps):.3g} s between others;"
            f" prepare data[:{k + 1}] and data[{k + 1}:] each and concatenate them with kd.identification.join"
        )


def _continuous(robot: Robot, q: Array) -> Array:
    """Remove jumps of angles by full turns and sign changes of quaternions."""
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
    """Resample at even times, unless the samples are even already."""
    q = _continuous(data.robot, data.q)
    if np.abs(np.diff(data.time) * rate - 1.0).max() <= EVEN_TOLERANCE:
        return replace(data, q=q)
    knots = None if cutoff is None else _knots(data.time, 0.25 / cutoff)
    time = np.linspace(data.time[0], data.time[-1], len(data))

    def curve(at: Array, values: Array) -> BSpline | CubicSpline:
        return _through(at, values) if knots is None else make_lsq_spline(at, values, knots, DEGREE)

    return _at(data, time, q, curve)


def _through(time: Array, values: Array) -> CubicSpline:
    return CubicSpline(time, values, axis=0)


def _knots(time: Array, spacing: float) -> Array:
    """Place knots at samples, at least `spacing` and two samples apart, so that least squares is well posed."""
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
    """Evaluate all signals at other times, on curves through or near the samples."""

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
    from scipy.signal import butter, sosfiltfilt  # slow to import

    sections = butter(ORDER, cutoff, fs=rate, output="sos")
    # mirrored samples at each end, as many as the impulse response is long, if available
    padding = min(len(data) - 1, 3 * math.ceil(rate / cutoff))

    def smooth(values: Array) -> Array:
        filtered: Array = sosfiltfilt(sections, values, axis=0, padlen=padding)
        return filtered

    return replace(
        data,
        q=_on_manifold(data.robot, smooth(data.q)),
        v=None if data.v is None else smooth(data.v),
        a=None if data.a is None else smooth(data.a),
        tau=smooth(data.tau),
        wrenches={frame: smooth(wrench) for frame, wrench in data.wrenches.items()},
    )


def _differentiated(data: Measurements, step: float) -> Measurements:
    """Compute the rates that were not recorded by central differences."""
    v = _padded(_position_rates(data.robot, data.q, step)) if data.v is None else data.v
    a = _padded(_rates(v, step)) if data.a is None else data.a
    return replace(data, v=v, a=a)


def _position_rates(robot: Robot, q: Array, step: float) -> Array:
    """Differentiate configurations by differences to the neighbours in the tangent space of each sample."""
    n = len(q) - 2 * HALF_WIDTH
    here = q[HALF_WIDTH : HALF_WIDTH + n]
    rates = np.zeros((n, robot.nv))
    for offset, weight in zip(OFFSETS, WEIGHTS, strict=True):
        rates += weight / step * robot.difference(here, q[HALF_WIDTH + offset : HALF_WIDTH + offset + n])
    return rates


def _rates(v: Array, step: float) -> Array:
    n = len(v) - 2 * HALF_WIDTH
    parts = [
        weight / step * v[HALF_WIDTH + offset : HALF_WIDTH + offset + n]
        for offset, weight in zip(OFFSETS, WEIGHTS, strict=True)
    ]
    total: Array = np.sum(parts, axis=0)
    return total


def _padded(rates: Array) -> Array:
    """Pad derivatives with zeros to the length of the samples; the ends are removed later."""
    return np.pad(rates, ((HALF_WIDTH, HALF_WIDTH), (0, 0)))
