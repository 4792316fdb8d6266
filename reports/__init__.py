"""From the records of a run to what people read: terminal table, diff, page.

Nothing here imports JAX or ``impl``. Importing this package is cheap; pandas is imported when a file is loaded.
"""
