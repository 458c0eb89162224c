"""Build the documentation site: write the generated page, and assemble the sources of the site.

commands.py  docs/commands.md, from the help texts of the command line
assemble.py  a folder of pages for Zensical: docs/, pages from the root, and source files that pages link to
"""
