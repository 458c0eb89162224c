"""Build the documentation site: write the generated page, and assemble the sources of the site.

commands.py  docs/commands.md, from the help texts of the command line
doctests.py  examples in docstrings as code, for the API page
assemble.py  a folder of pages for Zensical: docs/, pages from the root, and source files that pages link to
"""
