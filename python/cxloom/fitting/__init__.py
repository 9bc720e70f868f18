"""Parameters of a system fitted to a curve that was measured on a machine.

`search` is the numbers alone: residuals in, parameters and what is known of them out. `curve` plays a system at the
loads of a curve. `fit` puts both together. No parameter is known by name here: whatever a path of a spec names may be
fitted.
"""
