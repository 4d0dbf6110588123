"""The changes between two times."""
