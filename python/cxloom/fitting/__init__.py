"""Parameters of a system fitted to what was measured on a machine.

`search` is the numbers alone: residuals in, parameters and what is known of them out. `measured` plays a system as the
machine was measured: at loads, over sizes, with STREAM's kernels. `fit` puts both together; `result` is what it gives.
No parameter is known by name here: whatever a path of a spec names may be fitted.
"""
