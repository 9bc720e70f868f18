"""Studies: published experiments as files, run and printed beside the values they should give.

``docs/cli.md`` describes the file format; `read` gives a `Study`, `run_study` its outcome. Points are run by the engine
of `cxloom.sweeping`; tables, plots and pages of an outcome are `cxloom.report`.
"""

from cxloom.study.expect import Expectation
from cxloom.study.file import Study, read
from cxloom.study.runner import Outcome, run_study
from cxloom.study.shipped import names

__all__ = ["Expectation", "Outcome", "Study", "names", "read", "run_study"]
