"""What this process knows of a collection's rows, so that a question need not read Chroma."""
