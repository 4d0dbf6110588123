"""`graft doctor`: checks of a project and of this machine.

Each module checks one thing and returns findings (`lineage.findings`); `command` collects them.
Nothing is written and no JVM is started, so it may be run at any time.
"""
