"""What was measured on machines, curves of latency by bandwidth above all: read, put in order, and made media.

A module for each tool whose output is read; `points` is what they give, `order` what can be used of it, `medium` the
file of a `curve` medium. A curve of the simulator's own is no business of this package: `measure` has those.
"""
