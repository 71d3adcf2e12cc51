"""The stages, without any framework. Users import `langchain_recall` or `llamaindex_recall` instead."""
