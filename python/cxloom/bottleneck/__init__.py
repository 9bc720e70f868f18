"""What may limit a system: its resources in a summary, how much of each is used, and what would give twice as much.

The core builds the system and tells what of it can fill up, the summary how much of that is in use; nothing runs here.
What-if runs and the sentence about them are `explaining`.
"""
