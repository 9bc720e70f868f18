"""Says where the energy of a run goes: ``cxloom energy`` and ``cx.energy``. ``docs/energy.md`` describes it.

The figures per bit stand in `figures`, the account of a run in `account`. What the core itself counts (the devices of
a DRAM) is taken from the summary.
"""
