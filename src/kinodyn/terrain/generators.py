"""Terrains of common kinds. A robot starts at the origin, on level ground at height 0, and faces along x."""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy import ndimage

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import integer, nonnegative, numbers, positive
from kinodyn.dynamics.contact.ground import HeightField, Plane
from kinodyn.errors import InputError
from kinodyn.terrain.shapes import Box
from kinodyn.terrain.terrain import Terrain

START = 0.5  # [m] of level ground around the start of the robot
LANDING_LENGTH = 2.0  # [m] of level ground at the end
BOX_DEPTH = 0.2  # [m] by which boxes extend below the ground around them
SPACING = 0.05  # [m] of the nodes of height fields
MAX_STEPS, MAX_LENGTH, MAX_HEIGHT = 1000, 100.0, 10.0


def flat() -> Terrain:
    """Make level ground at height 0.

    Returns
    -------
    Terrain
    """
    return Terrain([Plane()], "flat")


@check_types
def slope(angle_deg: float, direction: Literal["along", "across"] = "along", length: float = 3.0) -> Terrain:
    """Make a slope between two level parts.

    Parameters
    ----------
    angle_deg
        Inclination [degrees]; "along": positive rises and negative falls with x, "across": positive rises to the left.
    direction
        "along": the slope is along x; "across": the ground changes within a metre to a slope along y.
    length
        Along x [m].

    Returns
    -------
    Terrain
    """
    angle, span = float(numbers("angle_deg", angle_deg)), _bounded("length", length)
    if not abs(angle) <= 45.0:
        raise InputError(f"angle_deg must be from -45 to 45, got {angle_deg!r}")
    x = np.arange(-LANDING_LENGTH, START + span + LANDING_LENGTH + 0.5 * SPACING, SPACING)
    y = np.arange(-LANDING_LENGTH, LANDING_LENGTH + 0.5 * SPACING, SPACING)
    rise = np.tan(np.deg2rad(angle))
    if direction == "along":
        heights = np.tile((rise * np.clip(x - START, 0.0, span))[:, None], len(y))
    else:
        heights = rise * np.outer(_ramp(x, START, START + 1.0) - _ramp(x, START + span, START + span + 1.0), y)
    field = HeightField(heights, SPACING, (x[0], y[0]), interpolation="linear")
    return Terrain([field], f"slope of {angle:g} degrees {direction}")


@check_types
def stairs(rise: float, tread: float, count: int, width: float = 2.0) -> Terrain:
    """Make stairs along x.

    Parameters
    ----------
    rise
        Height of a step [m]; negative: the stairs go down.
    tread
        Depth of a step [m].
    count
        Number of steps.
    width
        [m]

    Returns
    -------
    Terrain
    """
    height, depth = float(numbers("rise", rise)), _bounded("tread", tread)
    steps = integer("count", count, 1, MAX_STEPS)
    if height == 0 or abs(height) > 2.0:
        raise InputError(f"rise must be up to 2 m up or down, and not 0, got {rise!r}")
    across, end = _bounded("width", width), START + _bounded("count times tread", steps * depth)
    bottom = min(0.0, steps * height)
    shapes: list[Plane | Box] = [Plane((0.0, 0.0, bottom))]
    if height < 0:
        shapes.append(_block((-LANDING_LENGTH, START), across, 0.0, bottom))
    for k in range(1, steps + 1 if height > 0 else steps):
        edges = (START + (k - 1) * depth, START + k * depth + (LANDING_LENGTH if k == steps else 0.0))
        shapes.append(_block(edges, across, k * height, bottom))
    return Terrain(shapes, f"{steps} stairs of {height:g} m on {depth:g} m, ending at {end:.3g} m")


@check_types
def stones(
    size: float = 0.3, gap: float = 0.1, spread: float = 0.0, length: float = 2.4, width: float = 1.2, seed: int = 0
) -> Terrain:
    """Make stepping stones between two platforms, half a metre above the ground.

    Parameters
    ----------
    size
        Side of a square stone [m].
    gap
        Between stones [m].
    spread
        Heights are uniformly distributed within plus and minus this [m].
    length, width
        Size of the field of stones [m].
    seed
        Seed of the random heights.

    Returns
    -------
    Terrain
    """
    side, between, away = _bounded("size", size), nonnegative("gap", gap), nonnegative("spread", spread)
    if between > MAX_LENGTH or away > MAX_HEIGHT:
        raise InputError(
            f"gap must be at most {MAX_LENGTH:g} m and spread at most {MAX_HEIGHT:g} m, got {gap!r} and {spread!r}"
        )
    long, wide, rng = _bounded("length", length), _bounded("width", width), _random(seed)
    pitch = side + between
    columns, rows = max(1, round(long / pitch)), max(1, round(wide / pitch))
    _limit(columns * rows)
    start, bottom = START - 0.1, -0.5
    end = start + between + columns * pitch
    shapes: list[Plane | Box] = [
        Plane((0.0, 0.0, bottom)),
        _block((-LANDING_LENGTH, start), max(wide, 2.0), 0.0, bottom),
    ]
    shapes.append(_block((end, end + LANDING_LENGTH), max(wide, 2.0), 0.0, bottom))
    for i in range(columns):
        for j in range(rows):
            top = float(rng.uniform(-away, away))
            x, y = start + between + i * pitch + 0.5 * side, (j - 0.5 * (rows - 1)) * pitch
            shapes.append(Box.standing(x, y, (side, side, top - bottom + BOX_DEPTH), top))
    return Terrain(shapes, f"stones of {side:g} m with gaps of {between:g} m")


@check_types
def boxes(height: float = 0.08, size: float = 0.5, length: float = 3.0, width: float = 2.0, seed: int = 0) -> Terrain:
    """Scatter boxes of random size, height and direction over level ground.

    Parameters
    ----------
    height
        Largest height of a box [m].
    size
        Largest side of a box [m]; the least is half of it.
    length, width
        Size of the region with boxes [m].
    seed

    Returns
    -------
    Terrain
    """
    tallest, side = _bounded("height", height, MAX_HEIGHT), _bounded("size", size)
    long, wide, rng = _bounded("length", length), _bounded("width", width), _random(seed)
    count = max(1, round(long * wide / side**2))
    _limit(count)
    shapes: list[Plane | Box] = [Plane()]
    for _ in range(count):
        x, y = START + 0.5 * side + rng.uniform(0.0, long), rng.uniform(-0.5, 0.5) * wide
        top, sides = tallest * rng.uniform(0.1, 1.0), side * rng.uniform(0.5, 1.0, 2)
        # a turned box does not reach further than half its diagonal: the start stays free
        x = max(x, START + 0.5 * float(np.hypot(*sides)))
        shapes.append(
            Box.standing(float(x), float(y), (*sides, top + BOX_DEPTH), float(top), float(rng.uniform(0, np.pi)))
        )
    return Terrain(shapes, f"{count} boxes of up to {tallest:g} m")


@check_types
def field(
    amplitude: float = 0.05, wavelength: float = 1.0, length: float = 5.0, width: float = 3.0, seed: int = 0
) -> Terrain:
    """Make a smooth random height field, level at the start.

    Parameters
    ----------
    amplitude
        Difference between the highest and the lowest point [m].
    wavelength
        Typical distance between hills [m].
    length, width
        [m]
    seed

    Returns
    -------
    Terrain
    """
    span, wave = _bounded("amplitude", amplitude, MAX_HEIGHT), _bounded("wavelength", wavelength)
    long, wide, rng = _bounded("length", length), _bounded("width", width), _random(seed)
    x = np.arange(-LANDING_LENGTH, START + long + LANDING_LENGTH, SPACING)
    y = np.arange(-0.5 * wide, 0.5 * wide + 0.5 * SPACING, SPACING)
    _limit(len(x) * len(y), 4_000_000)
    noise = ndimage.gaussian_filter(rng.standard_normal((len(x), len(y))), 0.25 * wave / SPACING, mode="reflect")
    noise -= noise.min()
    fade = _ramp(x, START - 0.2, START + 0.3)[:, None]
    heights = fade * noise * (span / max(float(noise.max()), 1e-12))
    grid = HeightField(heights, SPACING, (x[0], y[0]), interpolation="linear")
    return Terrain([grid], f"height field of {span:g} m")


def _block(x: tuple[float, float], width: float, top: float, bottom: float) -> Box:
    size = (x[1] - x[0], width, top - bottom + BOX_DEPTH)
    return Box.standing(0.5 * (x[0] + x[1]), 0.0, size, top)


def _ramp(x: Array, begin: float, end: float) -> Array:
    """Blend smoothly from 0 to 1."""
    s = np.clip((x - begin) / (end - begin), 0.0, 1.0)
    result: Array = s * s * (3.0 - 2.0 * s)
    return result


def _bounded(what: str, value: float, most: float = MAX_LENGTH) -> float:
    number = positive(what, value)
    if number > most:
        raise InputError(f"{what} must be at most {most:g} m, got {value!r}")
    return number


def _random(seed: int) -> np.random.Generator:
    return np.random.default_rng(integer("seed", seed, 0, 2**63 - 1))


def _limit(count: float, most: int = 10_000) -> None:
    if count > most:
        raise InputError(f"this terrain would have {count:.3g} parts, at most {most} are allowed")
