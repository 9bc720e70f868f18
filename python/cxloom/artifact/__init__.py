"""Artifacts of studies: a directory with all that a study is run from and what it gave, to be run again elsewhere.

`package` makes one, `reproduce` runs it and says what differs. ``docs/artifact.md`` describes the directory. What a
study is, and how its points are run, belongs to `study`.
"""
