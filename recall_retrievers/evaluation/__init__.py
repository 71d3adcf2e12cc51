"""How good the answers are on questions of one's own: what should come back, and what does."""
