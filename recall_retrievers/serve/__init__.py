"""Servers of memories: the Model Context Protocol (``recall mcp``) and HTTP (``recall serve``).

This room may import every other one but ``cli`` and ``evaluation``.
"""
