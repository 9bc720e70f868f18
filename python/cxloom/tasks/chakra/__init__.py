"""Execution traces of Chakra as graphs of tasks."""
