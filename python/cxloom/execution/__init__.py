"""A program on simulated systems: what misses its caches is simulated, live or from a trace.

`program` runs it, `feed` plays its accesses, `sampling` chooses what is simulated, `objects` places pages by object,
`result` holds what came out. Capturing and traces are `trace`; tables and pages of an execution are `report`.
"""

from cxloom.execution.program import execute, replay

__all__ = ["execute", "replay"]
