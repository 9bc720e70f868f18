"""What may limit a system: its resources in a summary, how much of each is used, and what would give twice as much.

Only the spec and the summary are read; nothing runs here. What-if runs and the sentence about them are `explaining`.
"""
