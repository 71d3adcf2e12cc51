"""The reading of a message for the search gate: does it need memories? No model is asked.

A language is data: one TOML file with its words and phrases and, for English and Chinese, one JSON
file of learned weights.
May import: text/, and of core/ only `core.message`.
"""
