"""Results as people see them: the table of a run and of a study, pictures."""
