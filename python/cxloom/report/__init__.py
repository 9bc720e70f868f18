"""Results as people see them beyond the table of one run: pages, pictures, figures for papers, tables of many points.

`*_page` is HTML, `*_table` is text for a terminal, `figures` is for papers. Nothing here runs
a system, and the command alone imports it.
"""
