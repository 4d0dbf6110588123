"""What libraries do to columns, as tables of their functions and methods."""
