"""From a project to an analysis."""
