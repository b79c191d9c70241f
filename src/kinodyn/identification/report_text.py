"""The report of an identification as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from kinodyn.identification.report import Identification

WIDTH = 60  # of the column of names


def report_text(result: Identification) -> str:
    """Return the report; see `Identification.text`."""
    lines = [*_summary(result), "", *_torques(result), "", *_links(result), *_constants(result), "", *_base(result)]
    return "\n".join([*lines, "", *_unknown(result)])


def _summary(result: Identification) -> list[str]:
    head = f"{result.prior.name}: {result.method} fit of {len(result.names)} parameters, {result.status}"
    known = sum(result.identified)
    lines = [
        head,
        f"{len(result.train)} samples fitted, {len(result.test)} held out",
        f"{result.base.rank} combinations can be identified, {known} of them with these data",
        "all parameters are physically consistent"
        if result.is_physically_consistent
        else "some parameters are NOT physically consistent",
    ]
    unused = result.train.ignored
    return lines + ([f"columns of the file that were not used: {', '.join(unused)}"] if unused else [])


def _torques(result: Identification) -> list[str]:
    lines = [f"{'rms torque error':<{WIDTH}} {'before':>10} {'fitted':>10} {'held out':>10} {'noise':>10}"]
    columns = (result.prior_residuals(), result.residuals(result.train), result.residuals(), result.noise)
    return lines + [_row(name, *numbers) for name, *numbers in zip(result.labels(), *columns, strict=True)]


def _links(result: Identification) -> list[str]:
    lines = [f"{'mass [kg]':<{WIDTH}} {'before':>10} {'after':>10} {'std error':>10}"]
    n = result.model.inertial
    columns = (result.before[:n:10], result.after[:n:10], result.standard_errors[:n:10])
    return lines + [_row(name, *numbers) for name, *numbers in zip(result.prior.parameter_links, *columns, strict=True)]


def _constants(result: Identification) -> list[str]:
    n = result.model.inertial
    columns = (result.before[n:], result.after[n:], result.standard_errors[n:])
    return [_row(name, *numbers) for name, *numbers in zip(result.names[n:], *columns, strict=True)]


def _base(result: Identification) -> list[str]:
    lines = [f"{'combination':<{WIDTH}} {'before':>10} {'after':>10} {'std error':>10}"]
    columns = (result.base_before, result.base_after, result.base_standard_errors)
    for name, known, *numbers in zip(result.base.names, result.identified, *columns, strict=True):
        lines.append(_row(name, *numbers) + ("" if known else "  not identified"))
    return lines


def _unknown(result: Identification) -> list[str]:
    combined = sum(status == "combined" for status in result.base.status)
    return [
        "not identified with these data: " + ("; ".join(result.unidentified) or "none"),
        "without effect on any torque: " + (", ".join(result.without_effect) or "none"),
        f"known only in combination with others: {combined} parameters",
    ]


def _row(name: str, *numbers: float) -> str:
    shown = name if len(name) <= WIDTH else name[: WIDTH - 4] + " ..."
    return f"{shown:<{WIDTH}} " + " ".join(f"{np.float64(number):>10.4g}" for number in numbers)
