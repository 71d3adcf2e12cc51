"""Explanations: the way to every score, as text and as HTML, with a picture of the times."""
