"""Which compressors and postprocessors keep the promises of `recall_retrievers.testing`."""
