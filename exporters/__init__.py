"""Exports of the lineage for other tools."""
