"""What an explanation shows: how a score was built, as text, as HTML and as pictures."""
