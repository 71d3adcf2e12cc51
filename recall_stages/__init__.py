"""The stages, without any framework; users import `langchain_recall` or `llamaindex_recall`."""
