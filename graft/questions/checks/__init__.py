"""The checks of a project."""
