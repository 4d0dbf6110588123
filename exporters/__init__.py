"""The lineage for other tools."""
