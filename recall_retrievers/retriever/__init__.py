"""The retriever: a question in, its memories out; and the ready-made flows.

May import: stages and every room below.
"""
