"""Pictures of systems: the graph of devices and links, where its nodes go, and SVG, PNG, PDF or HTML of it.

`graph` and `shapes` say what there is, `layout_shapes`, `layout_levels` and `routes` where it goes, `node_style` how it
looks; `svg` and `figure` write it. A resolved spec comes in; loads come as plain numbers. Nothing here runs a system.
"""
