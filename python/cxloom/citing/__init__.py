"""What a paper that uses results of cxloom cites: the simulator, and the publications that its parameters name.

`publications` is the list of what is known of each; `cited` finds which of them a system stands on.
"""
