"""Libraries: tables of what their functions and methods do to columns."""
