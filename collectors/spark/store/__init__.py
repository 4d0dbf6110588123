"""Records of the lineage store, made log by log."""
