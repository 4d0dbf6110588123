"""`graft doctor`: what is wrong with a project, and what could be better.

Each module looks at one thing and gives its findings (`lineage.findings`); `command` gathers them.
Nothing is written and no JVM is started, so it may be run at any time.
"""
