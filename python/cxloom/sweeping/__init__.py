"""Sweeps: one system at many points, in parallel, with a store that lets it go on after any interruption.

``docs/sweep.md`` describes them. The way of a sweep: `space` makes settings, `plan` resolves them and gives each its
key. `engine` runs what is not in the `store` yet by a runner, such as `supervisor`, which asks the `schedule` what is
next and has it done by a `work.Bench`. `table` derives the results from the store. How one point runs, `cxloom.running`
knows; how a sweep looks, `cxloom.report`.
"""
