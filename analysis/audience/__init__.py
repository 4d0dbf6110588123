"""The view of a lineage for an audience: what its classification forbids is left out."""
