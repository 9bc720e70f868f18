"""Where the data of a program should live: objects, proposals by two policies, and runs that hold them against others.

`objects` finds the objects of a workload or of a recorded program, `nodes` measures what memory is like, `policies`
propose, `advice` runs and chooses, `recipe` says how to have it on Linux. Programs are played by `execution`.
"""
