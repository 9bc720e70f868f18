"""Power that fails during a run: `power_failures` finds what is lost, `table` says it to a person.

The rules of persistence stand in the core; here runs are repeated, cut off, and compared with what was promised.
"""
