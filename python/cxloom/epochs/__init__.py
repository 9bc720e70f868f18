"""Tiering over minutes: pages instead of lines, at rates of short runs of lines.

`study` plays a spec by epochs and gives its result, `scaled` makes a small copy of a spec, `split` runs that copy by
epochs and line by line. What happens to pages is `core/system/epochs`.
"""
