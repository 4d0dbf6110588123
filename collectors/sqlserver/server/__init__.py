"""What a SQL Server says of itself: its catalog as a snapshot, its event sessions."""
