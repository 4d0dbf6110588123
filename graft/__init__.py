"""The command line, `graft.yml`, and the pipeline that calls the rooms in order."""
