"""How figures, tables and pictures look, whatever they show: consoles, numbers, tables, colours, charts of Matplotlib.

Nothing here knows a result, a study or a sweep: callers hand over numbers and names.
"""
