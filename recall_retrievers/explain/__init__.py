"""Explanations: the way to every score, as text, as HTML and as pictures."""
