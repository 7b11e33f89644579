"""The visual language of charts, pages and tables: colours, numbers, units and the frame of HTML pages.

`docs/look.md` describes the rules and their reasons.
"""
