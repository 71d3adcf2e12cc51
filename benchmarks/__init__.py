"""What later changes are judged by: retrieval quality, time understanding, latency.

Each runs on data passed as a folder or file; nothing of it lives in the project.
"""
