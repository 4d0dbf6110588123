"""Event log files: where they lie, how they are packed, and the few events that lineage needs."""
