"""Events -> what each run said, folded and followed session by session."""
