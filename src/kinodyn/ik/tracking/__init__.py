"""The parts of `kinodyn.ik.track`: the task, the follower, the starts, the answer."""
