"""The command line, `graft.yml`, and the pipeline that calls the rooms in order."""

__version__ = "0.1.0"
