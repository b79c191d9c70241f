"""kinodyn dynamics: inverse and forward dynamics, mass matrix, energy, momentum."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from kinodyn.cli import args
from kinodyn.cli.args import labels
from kinodyn.cli.command import command
from kinodyn.cli.options import V_TEXT, Base, Q, RobotName, Seed, argument, option
from kinodyn.cli.plotting import plot_bars, plot_matrix
from kinodyn.cli.result import CommandResult, Table
from kinodyn.errors import InputError

if TYPE_CHECKING:
    from kinodyn.model.robot import Robot

Quantity = Literal[
    "inverse", "forward", "mass-matrix", "coriolis", "gravity", "bias", "energy", "momentum", "regressor"
]
UNITS = {"inverse": "N m, N", "forward": "rad/s^2, m/s^2", "gravity": "N m, N", "bias": "N m, N"}
MOMENTUM = ("px", "py", "pz", "lx", "ly", "lz")


@command(
    "dynamics",
    examples=[
        "kinodyn dynamics panda gravity --q ready",
        "kinodyn dynamics ur5 inverse --q random:100 --v random --out tau.csv",
        "kinodyn dynamics humanoid --q standing --wrench left_hand=0,0,-20",
    ],
)
def dynamics(
    robot: RobotName,
    quantity: Annotated[Quantity, argument("what to compute")] = "inverse",
    q: Q = "neutral",
    v: Annotated[str, option(f"velocity: {V_TEXT}", "--v")] = "zero",
    a: Annotated[str, option(f"acceleration: {V_TEXT}", "--a")] = "zero",
    tau: Annotated[str, option(f"joint forces: {V_TEXT}", "--tau")] = "zero",
    wrench: Annotated[
        list[str] | None,
        option("FRAME=fx,fy,fz or FRAME=fx,fy,fz,nx,ny,nz in world axes [N, N m], repeatable", metavar="FRAME=F"),
    ] = None,
    base: Base = None,
    seed: Seed = 0,
) -> CommandResult:
    """Compute the terms of the equations of motion M a + C v + D v + g = tau + J^T wrenches.

    inverse: tau from q, v, a. forward: a from q, v, tau. mass-matrix, coriolis, gravity, bias (all but M a), energy,
    centroidal momentum, regressor. Rows of q, v, a and tau are evaluated as a batch.
    """
    loaded = args.load(robot, base)
    state = {
        "q": args.configurations(loaded, q, seed=seed),
        "v": args.vectors(loaded, v, seed=seed + 1, what="v"),
        "a": args.vectors(loaded, a, seed=seed + 2, what="a"),
        "tau": args.vectors(loaded, tau, seed=seed + 3, what="tau"),
    }
    values = compute(loaded, quantity, state, _wrenches(wrench or []))
    names = labels(loaded).v
    columns = {name: _columns(name, array, names) for name, array in values.items()}
    batched = any(state[key].ndim > 1 for key in state)
    tables, pictures = _shown(loaded, quantity, values, names, batched)
    rows = {name: array for name, array in values.items() if name != "parameters"}
    samples = {name: array if batched else np.asarray(array)[None] for name, array in rows.items()}
    if batched:
        size = len(next(iter(rows.values())))
        given = {key: np.broadcast_to(state[key], (size, state[key].shape[-1])) for key in ("q", "v")}
        samples, columns = {**given, **samples}, {"q": labels(loaded).q, "v": names, **columns}
    return CommandResult(
        f"{loaded.name}: {quantity}",
        {**values, "names": names},
        {"robot": robot, "quantity": quantity, **state, "wrench": wrench or [], "seed": seed},
        tables,
        samples=samples,
        columns=columns,
        figures=pictures,
    )


def compute(robot: Robot, quantity: str, state: dict[str, Any], wrenches: dict[str, Any] | None) -> dict[str, Any]:
    """Compute a quantity: arrays by name."""
    from kinodyn import dynamics as d
    from kinodyn.dynamics import centroidal

    q, v, a, tau = (state[key] for key in ("q", "v", "a", "tau"))
    functions: dict[str, Callable[[], dict[str, Any]]] = {
        "inverse": lambda: {"tau": d.inverse(robot, q, v, a, wrenches)},
        "forward": lambda: {"a": d.forward(robot, q, v, tau, wrenches)},
        "mass-matrix": lambda: {"M": d.mass_matrix(robot, q)},
        "coriolis": lambda: {"C": d.coriolis_matrix(robot, q, v)},
        "gravity": lambda: {"g": d.gravity(robot, q)},
        "bias": lambda: {"bias": d.bias(robot, q, v, wrenches)},
        "energy": lambda: {"kinetic": d.kinetic_energy(robot, q, v), "potential": d.potential_energy(robot, q)},
        "momentum": lambda: {"momentum": centroidal.momentum(robot, q, v)},
        "regressor": lambda: {"Y": d.regressor(robot, q, v, a), "parameters": robot.inertial_parameters},
    }
    if wrenches and quantity not in ("inverse", "forward", "bias"):
        raise InputError(f"--wrench has no effect on {quantity}; it acts in inverse, forward and bias")
    return functions[quantity]()


def _wrenches(texts: Sequence[str]) -> dict[str, Any] | None:
    found = {}
    for text in texts:
        frame, equals, numbers = text.partition("=")
        if not equals:
            raise InputError(f"--wrench {text!r} must be FRAME=fx,fy,fz or FRAME=fx,fy,fz,nx,ny,nz")
        given = args.numbers(numbers, "--wrench", (3, 6))
        found[frame] = np.concatenate([given, np.zeros(6 - len(given))])
    return found or None


def _columns(name: str, array: Any, names: Sequence[str]) -> Sequence[str]:
    if name in ("M", "C"):
        return [f"{row}.{column}" for row in names for column in names]
    if name == "momentum":
        return MOMENTUM
    return names if np.shape(array)[-1:] == (len(names),) else ()


def _shown(
    robot: Robot, quantity: str, values: dict[str, Any], names: Sequence[str], batched: bool
) -> tuple[list[Table], dict[str, Callable[[], Any]]]:
    first = {name: array[0] if batched else array for name, array in values.items() if name != "parameters"}
    suffix = f", row 1 of {len(next(iter(values.values())))}" if batched else ""
    name, value = next(iter(first.items()))
    if quantity == "energy":
        parts = [(key, float(x)) for key, x in first.items()]
        drawn = lambda: plot_bars(f"{robot.name}: energy", list(first), np.array([x for _, x in parts]), "J")  # noqa: E731
        return [Table(f"energy{suffix}", ("part", "J"), parts)], {quantity: drawn}
    if quantity == "momentum":
        unit = "kg m/s, kg m^2/s"
        rows = list(zip(MOMENTUM, value, strict=True))
        drawn = lambda: plot_bars(f"{robot.name}: momentum", MOMENTUM, value, unit)  # noqa: E731
        return [Table(f"momentum{suffix}", ("part", unit), rows)], {quantity: drawn}
    if value.ndim == 2:
        columns = names if quantity != "regressor" else [str(k) for k in range(value.shape[1])]
        few = columns[:8]
        rows = [(joint, *row[:8]) for joint, row in zip(names, value, strict=True)]
        title = f"{name}{suffix}" + (f", {len(few)} of {len(columns)} columns" if len(columns) > 8 else "")
        return [Table(title, ("", *few), rows, 60)], {quantity: lambda: plot_matrix(name, value, names, columns)}
    unit = UNITS[quantity]
    table = Table(f"{name}{suffix}", ("joint", unit), list(zip(names, value, strict=True)), 100)
    return [table], {quantity: lambda: plot_bars(f"{robot.name}: {quantity}", names, value, unit)}
