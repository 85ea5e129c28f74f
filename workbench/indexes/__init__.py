"""Derived indexes: whatever they hold can be read from the library again.

Each index owns a folder beside the library file, carries the number of the library change it was built
from, and catches up by itself. Removing such a folder loses nothing and hides nothing from a search.
"""
