"""The tables that a statement reads and writes, found in its tokens."""
