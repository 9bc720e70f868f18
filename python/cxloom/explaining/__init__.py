"""Says what limits a system, and why: ``cxloom explain`` and ``cx.explain``. ``docs/explain.md`` describes it.

What-if runs, the verdict and its picture stand here. The resources that it weighs are found by `bottleneck`.
"""
