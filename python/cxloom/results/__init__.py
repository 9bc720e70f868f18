"""The result of one run: the object, its rows, its directory, and its text for terminals and notebooks.

Everything here reads a summary and no simulation. Pages and pictures are `report`, and so is all that is about several
runs.
"""
