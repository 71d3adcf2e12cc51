"""A vector store or a retriever of the framework in the place of a `RecallStore`."""
