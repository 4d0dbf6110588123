"""Dates of data: periods, their text, and how those of an edge's ends belong together."""
