"""Parse arguments: robots, configurations, vectors, frames."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from kinodyn import tables
from kinodyn.arrays import Array
from kinodyn.cli import files
from kinodyn.errors import InputError, unknown_name

if TYPE_CHECKING:
    from kinodyn.identification.columns import Labels
    from kinodyn.model.robot import Robot

_RANDOM = re.compile(r"random(?::(\d+))?$")


_SEARCHED: ContextVar[tuple[Path, ...]] = ContextVar("packages", default=())


@contextmanager
def packages_in(folders: Sequence[Path]) -> Iterator[None]:
    """Let `load` search folders for packages: those of the option --packages, which most commands share."""
    token = _SEARCHED.set(tuple(folders))
    try:
        yield
    finally:
        _SEARCHED.reset(token)


def load(
    name: str, base: Literal["fixed", "floating"] | None = None, *, packages: Sequence[Path] = (), **options: Any
) -> Robot:
    """Load a robot by name or from a file; `options` are further ones of `kinodyn.load`."""
    import kinodyn as kd

    return kd.load(name, base=base, packages=(*packages, *_SEARCHED.get()), **options)


def labels(robot: Robot) -> Labels:
    """Return the names of the entries of q and v."""
    from kinodyn.identification import columns

    return columns.labels(robot)


def configurations(robot: Robot, text: str, *, seed: int = 0, what: str = "q") -> Array:
    """Parse configurations: (nq,), or (n, nq) for `random:n` and files."""
    names = labels(robot).q
    count = _random_count(text, what)
    if count is not None:
        return robot.random(count or None, seed=seed)
    if text in ("neutral", "zero"):
        return robot.neutral()
    if text in robot.configurations:
        return robot.configuration(text)
    if _is_file(text):
        return _read_rows(Path(text), "q", names)
    if "=" in text:
        return _parse_pairs(text, names, robot.neutral(), what)
    known = ["neutral", "random", *robot.configurations]
    return _parse_list(text, names, what, known, "configuration")


def vectors(robot: Robot, text: str, *, seed: int = 0, what: str = "v") -> Array:
    """Parse velocities, accelerations or joint forces: (nv,), or (n, nv) for `random:n` and files."""
    names = labels(robot).v
    count = _random_count(text, what)
    if count is not None:
        shape = (count, robot.nv) if count else (robot.nv,)
        return np.random.default_rng(seed).uniform(-1.0, 1.0, shape)
    if text == "zero":
        return np.zeros(robot.nv)
    if _is_file(text):
        return _read_rows(Path(text), what, names)
    if "=" in text:
        return _parse_pairs(text, names, np.zeros(robot.nv), what)
    return _parse_list(text, names, what, ["zero", "random"], "vector")


def numbers(text: str, what: str, allowed: Sequence[int] = ()) -> Array:
    """Parse numbers separated by commas or blanks; `allowed` lists the accepted counts, by default any above 0."""
    try:
        found = np.array([float(part) for part in re.split(r"[,\s]+", text.strip()) if part])
    except ValueError as cause:
        raise InputError(f"{what} must be numbers such as '0.1,0.2', got {text!r}") from cause
    if not allowed and len(found) == 0:
        raise InputError(f"{what} must be one number or more, got {text!r}")
    if allowed and len(found) not in allowed:
        raise InputError(f"{what} must be {' or '.join(map(str, allowed))} numbers, got {len(found)}: {text!r}")
    return found


def whole_number(value: float, what: str) -> int:
    """Return a number such as 1e8 as an integer, or raise."""
    if not float(value).is_integer():
        raise InputError(f"{what} must be an integer, got {value!r}")
    return int(value)


def end_frame(robot: Robot, frame: str | None) -> str:
    """Check a frame name; the default is the first end effector, or the last frame of the robot."""
    if frame is None:
        ends = list(robot.description.end_effectors.values())
        return ends[0] if ends else robot.frame_names[-1]
    robot.frame_index(frame)
    return frame


def frames(robot: Robot, names: Sequence[str] | None) -> list[str]:
    """Check frame names; the default is the end frame."""
    return [end_frame(robot, name) for name in names] if names else [end_frame(robot, None)]


def _random_count(text: str, what: str) -> int | None:
    """Parse `random` as 0, `random:n` as n, anything else as None."""
    match = _RANDOM.match(text)
    if match is None or match[1] is None:
        return None if match is None else 0
    if int(match[1]) < 1:
        raise InputError(f"{what} {text!r} draws no samples; give a count of at least 1, such as random:100")
    return int(match[1])


def _is_file(text: str) -> bool:
    return Path(text).suffix.lower() in files.WRITTEN


def _read_rows(path: Path, what: str, names: Sequence[str]) -> Array:
    columns = files.read_columns(path)
    found = tables.stack(columns, what, names)
    if found is None:
        raise InputError(
            f"{path} has neither an array {what!r} nor the columns {what}.{names[0]}, ...; it has: "
            f"{', '.join(list(columns)[:8]) or 'nothing'}"
        )
    if found.size == 0:
        raise InputError(f"{path} has no rows of {what}")
    if found.ndim == 0 or found.shape[-1] != len(names):
        raise InputError(f"{what} in {path} must have shape (..., {len(names)}), got {found.shape}")
    return found


def _parse_pairs(text: str, names: Sequence[str], start: Array, what: str) -> Array:
    for part in re.split(r"[,\s]+", text.strip()):
        name, _, value = part.partition("=")
        if name not in names:
            raise unknown_name(f"entry of {what}", name, names)
        try:
            start[names.index(name)] = float(value)
        except ValueError as cause:
            raise InputError(f"{what}: {part!r} must be name=number") from cause
    return start


def _parse_list(text: str, names: Sequence[str], what: str, known: Sequence[str], kind: str) -> Array:
    if re.match(r"(?![+-]?(nan|inf)\b)[A-Za-z_]", text, re.IGNORECASE):
        raise unknown_name(kind, text, known)
    try:
        return numbers(text, what, (len(names),))
    except InputError as cause:
        raise InputError(
            f"{cause}; its entries are {', '.join(names[:6])}{', ...' if len(names) > 6 else ''}"
        ) from cause
