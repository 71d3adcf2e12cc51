"""The stages, those that are alike in one file. The files do not import one another.

May import: store, llm, ranking, gate, core, text, timeline.
"""
