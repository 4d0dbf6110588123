"""Events -> the statements of each run: folded, then followed session by session."""
