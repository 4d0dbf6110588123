"""Failed tests, old data and failed writes: what they reach downstream, and who waits for it."""
