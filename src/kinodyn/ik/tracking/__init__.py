"""Parts of `kinodyn.ik.track`: the tracked frame, the path follower, the search over branches, the result."""
