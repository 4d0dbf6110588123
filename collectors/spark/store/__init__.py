"""What an application did, gathered log by log, as rows of the lineage store."""
