"""Parts of `kinodyn.ik.track`: the tracked frame, the follower of a path, the search over branches, the result."""
