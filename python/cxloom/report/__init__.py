"""Results as people see them: the table of a run and of a study, pictures."""

from cxloom.report.terminal import show, to_text

__all__ = ["show", "to_text"]
