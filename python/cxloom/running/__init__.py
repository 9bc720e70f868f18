"""One run: `run` plays a simulation in slices and gives its result, `protocol_log` writes messages as they come.

Many runs are `sweeping`. What a result says, and how it is stored and printed, belongs to `results`.
"""
