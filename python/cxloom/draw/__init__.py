"""Pictures of systems: the graph of devices and links, where its nodes go, and SVG, PNG, PDF or HTML of it."""
