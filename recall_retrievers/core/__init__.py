"""What everything speaks: memories, questions, stages and the machine that runs them.

May import: text, timeline.
"""
