"""Contacts that do not hold."""

from __future__ import annotations

import numpy as np

import kinodyn as kd
from kinodyn.retarget.body import Body
from kinodyn.retarget.bridges import touching_limbs
from kinodyn.retarget.contacts import Contact, find_contacts
from kinodyn.retarget.human import normalise
from kinodyn.retarget.keypoints import key_points
from kinodyn.retarget.repairs import RELEASED, _release, of_one_foot
from kinodyn.retarget.solver import ClipSolver
from kinodyn.retarget.targets import make_targets


def contact(side: str, start: int, stop: int) -> Contact:
    return Contact(side, start, stop, (start, stop), 0.0)


def test_of_contacts_at_the_same_time_only_the_one_that_slips_more_is_reduced() -> None:
    contacts = (contact("left", 0, 10), contact("left", 30, 40), contact("right", 5, 20), contact("right", 40, 50))
    slips = of_one_foot(contacts, np.array([0.01, 0.01, 0.02, 0.03]))
    assert (slips > 0.0015).tolist() == [False, True, True, True]
    assert len(of_one_foot((), np.zeros(0))) == 0


def clip_solver() -> ClipSolver:
    motion = kd.retarget.example_motion()
    human = normalise(motion, key_points(motion), 30.0)
    feet, body = find_contacts(human), Body.from_robot(kd.load("humanoid"))
    return ClipSolver(body, make_targets(body, human, feet), feet.contacts, 30.0)


def test_parts_of_a_contact_keep_the_edge_on_which_the_foot_stands() -> None:
    whole = Contact("left", 0, 40, (20, 30), 0.0, ("heel", "toes"))
    assert whole.part(0, 25) == Contact("left", 0, 25, (20, 25), 0.0, ("heel", "toes"))
    assert whole.part(5, 15) == Contact("left", 5, 15, (5, 5), 0.0, ("heel", "heel"))
    assert whole.part(32, 40) == Contact("left", 32, 40, (32, 32), 0.0, ("toes", "toes"))


def test_legs_that_touch_in_a_contact_give_it_up_for_a_moment() -> None:
    solver = clip_solver()
    longest = max(solver.contacts, key=lambda contact: contact.stop - contact.start)
    solver.clearances.names = [solver.body.legs[longest.side].links[-2:]]
    others = [contact for contact in solver.contacts if contact != longest]
    frame = (longest.start + longest.stop) // 2
    _release(solver, [(frame, 0)])
    parts = [contact for contact in solver.contacts if contact not in others]
    assert [part.start for part in parts] == [longest.start, frame + RELEASED + 1]
    assert [part.stop for part in parts] == [frame - RELEASED, longest.stop]
    assert len(solver.contacts) == len(others) + 2


def test_a_touch_of_no_limb_is_one_of_the_trunk() -> None:
    solver = clip_solver()
    solver.clearances.names = [(solver.body.torso, solver.body.pelvis)]
    assert list(touching_limbs(solver, [(20, 0)], 2)) == [("trunk", "")]
