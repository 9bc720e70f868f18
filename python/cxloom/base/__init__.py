"""The foundations of every other package: errors, limits of input, words, names of files, files written whole.

The keys of a summary are here, too, as types alone. Nothing else here knows specs, runs or results.
A module imports the standard library and its neighbours, nothing else.
"""
