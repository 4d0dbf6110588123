"""Dates of data in SQL: the literals of a text that are dates, found once for all of its shape."""
