"""Which compressors and postprocessors keep the promises of a reranker; see `checks`."""
