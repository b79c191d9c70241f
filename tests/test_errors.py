"""Errors: one root; messages of bounded length that keep their beginning and their end."""

from __future__ import annotations

import pickle

import pytest

import kinodyn as kd
from kinodyn.errors import MAX_MESSAGE, DescriptionError, InputError, KinodynError, bounded


def test_long_messages_are_cut_in_the_middle() -> None:
    text = "begin " + "x" * 200_000 + " end"
    for error in (InputError(text), DescriptionError(text), KinodynError(text)):
        assert len(str(error)) < 1.2 * MAX_MESSAGE and str(error).startswith("begin") and str(error).endswith("end")
        assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert bounded("short") == "short"


@pytest.mark.parametrize(
    "call",
    [
        lambda: kd.load("x" * 200_000),
        lambda: kd.load("ur5").frame_index("x" * 200_000),
        lambda: kd.from_dh("x" * 200_000),
        lambda: kd.kinematics.pose(kd.load("ur5"), ["x" * 200_000], 0),
        lambda: kd.spatial.as_pose("x" * 200_000),
    ],
)
def test_what_was_given_is_quoted_up_to_a_bound(call) -> None:
    with pytest.raises(KinodynError) as caught:
        call()
    assert len(str(caught.value)) < 1.2 * MAX_MESSAGE
