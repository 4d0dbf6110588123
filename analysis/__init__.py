"""The questions asked of a lineage; all of it is pure."""
