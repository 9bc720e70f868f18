"""Systems that were written for other simulators, as specs.

A module for each form that is read, and for what becomes of it; `imported` is what they give: a spec, and in words all
that it could not take over. What was measured on machines is no business of this package: `curves` has that.
"""
