"""Collections that search by words themselves: Chroma Cloud, and a distributed Chroma."""
