"""kinodyn retarget: human motion to a humanoid."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from kinodyn.cli import args, terminal
from kinodyn.cli.command import command
from kinodyn.cli.jobs import JobEngine, JobOption, job_options
from kinodyn.cli.launch import open_viewer
from kinodyn.cli.options import Base, argument, option
from kinodyn.cli.progress import progress_bar
from kinodyn.cli.result import CommandResult, Table
from kinodyn.errors import InputError, KinodynError
from kinodyn.tables import check_writable

if TYPE_CHECKING:
    from kinodyn.model.robot import Robot
    from kinodyn.retarget import Retargeted

EXAMPLE = Path("example")  # a generated walk
SIMULATED = ("clip", "outcome", "walked [m]", "clip [m]", "upper body error [rad]")
COLUMNS = (
    *("clip", "frames", "hands [cm]", "feet [cm]", "hands in reach [cm]", "feet in reach [cm]", "in reach [%]"),
    *("contacts", "slip [mm]", "ground [mm]", "speed", "touching"),
)


@command(
    "retarget",
    examples=["kinodyn retarget example --robot humanoid --rate 30 --save motions --format qpos.csv"],
    without=("out", "plot"),
)
def retarget(
    clips: Annotated[
        list[Path], argument("files of human motion (.bvh, .npz of SMPL, .c3d, .csv), folders of them, or 'example'")
    ],
    robot: Annotated[str, option("robot name or path of its file", "--robot")] = "humanoid",
    rate: Annotated[float, option("frames per second of the result [Hz]", min=1.0, max=1000.0)] = 30.0,
    mapping: Annotated[
        Path | None, option("JSON file with the joint name of each key point, for unknown skeletons")
    ] = None,
    save: Annotated[Path | None, option("folder for the motions, one file or dataset for each clip")] = None,
    kind: Annotated[
        Literal["npz", "parquet", "csv", "qpos.npz", "qpos.csv", "dataset"],
        option("format of the saved motions", "--format"),
    ] = "npz",
    simulate: Annotated[
        bool, option("play walking speed and upper body through the walking controller in MuJoCo", "--simulate")
    ] = False,
    view: Annotated[bool, option("show robot and human side by side in the viewer afterwards", "--view")] = False,
    export: Annotated[Path | None, option("write the page of --view to a self-contained HTML file")] = None,
    job: JobOption = None,
    engine: JobEngine = None,
    base: Base = None,
) -> CommandResult:
    """Retarget human motions to a humanoid, within joint and velocity limits and with fixed feet during contacts.

    Prints for each clip the median errors of hands and feet, the same where limbs reach their targets, the shares of
    these targets in per cent (hands, feet), the largest slip of a foot in contact, the largest depth below the ground,
    the largest joint speed relative to its limit, and the frames in which links touch. Clips that cannot be read are
    listed with the reason. With --job the motions are written to a folder, one Parquet file for each clip, and the same
    command resumes a job that was stopped. With --simulate the robot walks at the speed of the clip in MuJoCo, actuated
    by torques alone, and tracks its upper body; what the controller cannot reproduce is reported first. With --view or
    --export a page shows the human next to the robot.
    """
    from kinodyn import retarget as retargeting
    from kinodyn.retarget.body import Body
    from kinodyn.threads import map_in_threads

    check_writable(export, (".html", ".htm"))
    loaded = args.load(robot, base)
    if job is not None or engine is not None:
        if simulate or view or export is not None:
            raise InputError("--simulate, --view and --export are not available with --job and --engine")
        if save is not None:
            raise InputError("--save is not available with --job and --engine: the folder of the job has the motions")
        with job_options(job, engine) as run:
            return _by_job(loaded, clips, rate, mapping, run)
    files = _files(clips)
    done: list[tuple[Path, Retargeted | KinodynError]] = []

    def one(file: Path) -> tuple[Path, Retargeted | KinodynError]:
        try:
            motion = file if file != EXAMPLE else retargeting.example_motion()
            result = retargeting.retarget(motion, loaded, rate=rate, mapping=mapping)
            if save is not None:
                save.mkdir(parents=True, exist_ok=True)
                result.save(save / (file.stem if kind == "dataset" else f"{file.stem}.{kind}"))
            return file, result
        except KinodynError as error:
            return file, error

    Body.from_robot(loaded)  # errors of the robot concern all clips
    with progress_bar("clips") as progress:
        for result in map_in_threads(one, files):
            done.append(result)
            progress(len(done), len(files))
    summary = _result(robot, rate, done)
    if simulate:
        _simulate(summary, [(file, clip) for file, clip in done if not isinstance(clip, KinodynError)], save)
    if view or export is not None:
        _show(summary, loaded, {file.name: clip for file, clip in done if not isinstance(clip, KinodynError)}, export)
    return summary


def _show(result: CommandResult, robot: Robot, clips: dict[str, Retargeted], export: Path | None) -> None:
    """Show robot and human of some clips side by side: in a file, or in the viewer afterwards."""
    from kinodyn.viewer import export_html

    if not clips:
        raise InputError("there is no motion to show")
    recordings = {name: clip.recording() for name, clip in clips.items()}
    if export is not None:
        export_html(robot, recordings, export, show=["human"])
        result.notes.append(f"{export} shows robot and human")
    else:
        result.on_finish = lambda: open_viewer(robot, recording=recordings, show=["human"])


def _simulate(result: CommandResult, clips: list[tuple[Path, Retargeted]], save: Path | None) -> None:
    """Play the clips in simulation, and add a table of the outcomes to the result."""
    from kinodyn import retarget as retargeting
    from kinodyn.walking import Biped

    rows: list[tuple[Any, ...]] = []
    for file, clip in clips:
        for note in retargeting.unsupported_parts(clip, Biped.from_robot(clip.robot)):
            terminal.say(f"{file.name}: {note}")
        try:
            played = retargeting.play(clip, progress=True)
        except KinodynError as error:
            rows.append((file.name, f"rejected: {error}", *3 * [float("nan")]))
            continue
        result.notes += [f"{file.name}: {note}" for note in played.notes]
        outcome = "stands" if played.stood else f"fell after {played.fallen:.2f} s" if played.fallen else "stopped"
        rows.append((file.name, outcome, played.distance, played.clip_distance, played.posture_error))
        if save is not None:
            played.recording.save(save / f"{file.stem}.simulated.npz")
    result.tables.append(Table("simulated", SIMULATED, rows))
    result.ok = all(row[1] == "stands" for row in rows)


def _files(clips: list[Path]) -> list[Path]:
    """List the files, those in folders in alphabetical order."""
    from kinodyn import jobs
    from kinodyn.retarget.reading import READERS

    files: list[Path] = []
    for clip in clips:
        files += [clip] if clip == EXAMPLE and not clip.exists() else jobs.Files(clip, tuple(READERS)).paths
    return files


def _result(robot: str, rate: float, done: list[tuple[Path, Retargeted | KinodynError]]) -> CommandResult:
    reports = {file.name: result.report.as_dict() for file, result in done if not isinstance(result, KinodynError)}
    failed = [(file.name, str(result)) for file, result in done if isinstance(result, KinodynError)]
    return _summary(robot, rate, [str(file) for file, _ in done], reports, failed)


def _by_job(robot: Robot, clips: list[Path], rate: float, mapping: Path | None, run: dict[str, Any]) -> CommandResult:
    from kinodyn import jobs
    from kinodyn.retarget.reading import READERS

    done = jobs.retarget(clips, robot, rate=rate, mapping=mapping, **run)
    files = jobs.Files(clips, tuple(READERS)).paths
    shards = list(done.shards())
    reports = {str(shard["clip"][0]): json.loads(str(shard["report"][0])) for shard in shards}
    failed = [(files[index].name, failure.error) for index, failure in sorted(done.failed.items())]
    result = _summary(robot.name, rate, [str(file) for file in files], reports, failed)
    result.interrupted, result.ok = done.status == "interrupted", done.status != "failed"
    if not result.ok:
        result.tables.append(Table("failed", ("reason",), [(done.reason,)]))
    return result


def _summary(
    robot: str, rate: float, clips: list[str], reports: dict[str, Any], failed: list[tuple[str, str]]
) -> CommandResult:
    if failed and not reports:
        raise InputError("; ".join(reason for _, reason in failed))
    rows = [
        (
            *(name, report["frames"], 100 * report["hand_error"], 100 * report["foot_error"]),
            *(100 * report["reachable_hand_error"], 100 * report["reachable_foot_error"]),
            f"{100 * report['hand_reach']:.0f}, {100 * report['foot_reach']:.0f}",
            *(report["contacts"], 1e3 * report["slip"], 1e3 * report["penetration"]),
            *(report["speed_ratio"], report["self_collisions"]),
        )
        for name, report in reports.items()
    ]
    tables = [Table("", COLUMNS, rows)]
    if failed:
        tables.append(Table("skipped", ("clip", "reason"), failed))
    frames = sum(report["frames"] for report in reports.values())
    return CommandResult(
        f"{robot}: {len(rows)} clips, {frames} frames",
        {"clips": reports, "skipped": dict(failed)},
        {"robot": robot, "rate": rate, "clips": clips},
        tables,
    )
