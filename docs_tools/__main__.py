"""Regenerate docs/commands.md and assemble the pages of the site: `make docs` runs this before Zensical."""

from pathlib import Path

from docs_tools.assemble import SOURCES, assemble
from docs_tools.commands import COMMANDS, commands_page

ROOT = Path(__file__).parents[1]

if __name__ == "__main__":
    (ROOT / COMMANDS).write_text(commands_page(), encoding="utf-8")
    assemble(ROOT, ROOT / SOURCES)
