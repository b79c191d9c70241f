"""Fixtures shared by the tests of walking."""

from __future__ import annotations

import pytest

import kinodyn as kd
from kinodyn.walking import Biped, StepLimits


@pytest.fixture(scope="session")
def body() -> Biped:
    return Biped.from_robot(kd.load("humanoid"))


@pytest.fixture(scope="session")
def limits(body: Biped) -> StepLimits:
    return StepLimits.from_robot(body)
