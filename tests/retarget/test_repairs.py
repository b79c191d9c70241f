"""Contacts that do not hold."""

from __future__ import annotations

import numpy as np

from kinodyn.retarget.contacts import Contact
from kinodyn.retarget.repairs import of_one_foot


def contact(side: str, start: int, stop: int) -> Contact:
    return Contact(side, start, stop, (start, stop), 0.0)


def test_of_contacts_at_the_same_time_only_the_one_that_slips_more_is_reduced() -> None:
    contacts = (contact("left", 0, 10), contact("left", 30, 40), contact("right", 5, 20), contact("right", 40, 50))
    slips = of_one_foot(contacts, np.array([0.01, 0.01, 0.02, 0.03]))
    assert (slips > 0.0015).tolist() == [False, True, True, True]
    assert len(of_one_foot((), np.zeros(0))) == 0
