"""A system before it runs: `system` builds its spec in Python, `simulation` makes the core's simulation of a spec.

What a parameter means stands in the core; how a file is read, in `spec`. Nothing here advances simulated time.
"""
