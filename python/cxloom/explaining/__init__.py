"""Says what limits a system, and why: ``cxloom explain`` and ``cx.explain``. ``docs/explain.md`` describes it."""
