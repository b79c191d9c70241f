"""The options that `kinodyn walk` and `kinodyn push` share: the engine and the settings of the gait."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from kinodyn.cli import args
from kinodyn.cli.options import option
from kinodyn.errors import InputError

if TYPE_CHECKING:  # the commands import kinodyn.walking when they run, so that the command line starts fast
    from kinodyn.model.robot import Robot
    from kinodyn.walking import GaitSettings

EngineOption: TypeAlias = Annotated[Literal["mujoco", "native"], option("physics engine")]
GaitOption: TypeAlias = Annotated[
    list[str] | None,
    option("change a field of GaitSettings: swing_height=0.08 or tracking.swing_weight=30; repeatable", "--set"),
]


def gait_settings(robot: Robot, texts: list[str]) -> GaitSettings | None:
    """Parse `FIELD=VALUE` strings as changes of the default settings of a robot; None if there are none."""
    if not texts:
        return None
    from kinodyn.walking import GaitSettings

    changes: dict[str, float] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise InputError(f"--set {text!r} must be FIELD=VALUE, such as swing_height=0.08")
        number = float(args.numbers(value, f"the value of --set {name}", (1,))[0])
        changes[name.strip()] = int(number) if number == int(number) and "." not in value else number
    return GaitSettings.from_robot(robot, **changes)
