"""The stages, without any framework; users import `langchain_recall` or `llamaindex_recall`."""

__version__ = "0.1.0"
