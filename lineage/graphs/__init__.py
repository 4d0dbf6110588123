"""Graphs over the lineage: tables, columns, paths."""
