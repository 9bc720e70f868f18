"""Graphs of tasks: how they are built in Python, and how their results are shown on a terminal.

Not here: how they are played, which is the core's, and the picture of a page (`cxloom.report`).
"""
