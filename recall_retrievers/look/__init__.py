"""An answer as a picture: the JSON of one answer, and the widget and page that draw it.

It may import the retriever and all rooms below it.
"""
