"""Write docs/commands.md: every command with its arguments, options and defaults, from its help texts."""

import re
from pathlib import Path

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from leaps.cli import app

COMMANDS = Path("docs/commands.md")

PURPOSES = {
    "Find and improve programs": ("solve", "repair", "imitate"),
    "Read, run and check programs": ("studio", "tasks", "check", "run", "trace", "conform"),
    "Policies to compare with": ("baseline", "skills"),
    "Experiments and results": ("experiment", "results", "report", "trajectory"),
    "The program space": ("data", "train", "encode", "decode", "interpolate", "latent-map", "smoothness"),
}
"""commands by purpose, in the order of the page; new commands come last, under OTHERS"""
OTHERS = "Other commands"

HEADER = """\
<!-- Written by `make docs` from the help texts of the commands. Edit those, not this file. -->

# Commands

Every command prints this help with `--help`. With `--json` it prints one JSON object to standard output and
nothing else. Errors go to standard error.
"""
EXAMPLES = "<!-- not run: examples of a help text -->"
"""stands before examples, for tests that run the blocks of documents"""
EXIT_CODES = """\
| exit code | meaning |
| --- | --- |
| 0 | success |
| 1 | failure: the answer is no |
| 2 | wrong input or options |
| 130 | interrupted with Ctrl-C |
"""


def commands_page() -> str:
    """Return the text of docs/commands.md."""
    group = get_command(app.app)
    assert isinstance(group, TyperGroup)
    context = typer.Context(group, info_name="leaps")
    left = dict.fromkeys(group.list_commands(context))
    parts: list[str] = []
    index: list[str] = []
    for purpose, names in (*PURPOSES.items(), (OTHERS, ())):
        present = [name for name in names if name in left] if names else list(left)
        if not present:
            continue
        index.append(f"| {purpose} | " + ", ".join(f"[`{name}`](#leaps-{name})" for name in present) + " |")
        for name in present:
            del left[name]
            command = group.get_command(context, name)
            assert isinstance(command, TyperCommand)
            parts.append(command_section(command, context))
    parts.insert(0, HEADER + "\n".join(["", "| purpose | commands |", "| --- | --- |", *index, ""]))
    parts.insert(1, EXIT_CODES)
    return "\n".join(parts)


def command_section(command: TyperCommand, parent: typer.Context) -> str:
    """Return the section of one command: usage, description, arguments and options."""
    context = typer.Context(command, parent=parent, info_name=command.name)
    usage = plain_names(" ".join(command.collect_usage_pieces(context)))
    lines = [f"## leaps {command.name}", "", "```text", f"leaps {command.name} {usage}", "```", ""]
    lines += [*description(command.help or ""), ""]
    rows = [parameter_row(*record) for record in parameters(command, context)]
    if rows:
        lines += ["| argument or option | default | description |", "| --- | --- | --- |", *rows, ""]
    return "\n".join(lines)


def parameters(command: TyperCommand, context: typer.Context) -> list[tuple[str, str]]:
    """Return names and help text of each argument, then of each option."""
    ordered = sorted(command.get_params(context), key=lambda each: each.param_type_name != "argument")
    records = [parameter.get_help_record(context) for parameter in ordered if parameter.name != "help"]
    return [record for record in records if record is not None]


TYPES = {"str": "TEXT", "int": "N", "float": "X", "path": "PATH"}
"""how the value of an option is written that has no name of its own"""


def parameter_row(names: str, text: str) -> str:
    """Return the row of one argument or option, from its record in the help: `-n, --seeds <int>`."""
    default, notes = "", []
    if found := re.search(r"\s*\[([^\[\]]*)\]$", text):
        text = text[: found.start()]
        for note in found[1].split("; "):
            if note == "required":
                default = note
            elif note.startswith("default: "):
                default = f"`{note.removeprefix('default: ')}`"
            elif bounds := bounds_text(note):
                notes.append(bounds)
    text = " ".join(filter(None, (text, *notes)))
    if not names.startswith("-"):
        names = plain_names(names).split()[0].strip("[]")
    names = re.sub(r"<(\w+)( range)?>", lambda kind: TYPES.get(kind[1], kind[1].upper()), names)
    written = ", ".join(f"`{name}`" for name in names.split(", "))
    return f"| {written} | {default} | {cell(markdown(text))} |"


def bounds_text(note: str) -> str:
    """Write the bounds of a number as a sentence; nothing for 0 or more, which is what people expect.

    >>> bounds_text("1<=x<=8"), bounds_text("x>=1"), bounds_text("x>=0")
    ('From 1 to 8.', 'At least 1.', '')
    """
    if match := re.fullmatch(r"(\S+?)<=x<=(\S+)", note):
        return f"From {match[1]} to {match[2]}."
    if match := re.fullmatch(r"x([<>])=(\S+)", note):
        return "" if note == "x>=0" else f"{'At least' if match[1] == '>' else 'At most'} {match[2]}."
    return f"({note})"


def plain_names(usage: str) -> str:
    """Remove the braces that typer writes around names, and double brackets."""
    return usage.replace("{", "").replace("}", "").replace("[[", "[").replace("]]", "]")


def cell(text: str) -> str:
    """Write a text as a cell of a table."""
    return text.replace("|", r"\|").replace("\n", " ")


def markdown(text: str) -> str:
    """Turn the markup of help texts into Markdown, and protect what Markdown would read as markup."""
    parts = re.split(r"(`[^`]*`|\[b\].*?\[/b\])", text.replace("\\[", "["))
    return "".join(
        f"`{part[3:-4]}`" if part.startswith("[b]") else part if part.startswith("`") else escape(part)
        for part in parts
    )


def escape(text: str) -> str:
    """Write options and names with marks as code, so that Markdown leaves them alone."""
    return re.sub(r"(?<![\w`-])(--[a-z][\w-]*|[\w./]*[*_<>][\w.*/<>]*)", r"`\1`", text)


def description(help_text: str) -> list[str]:
    """Return the paragraphs of a command's help; indented lines become blocks of code."""
    lines: list[str] = []
    for paragraph in re.split(r"\n\s*\n", help_text.strip("\n")):
        if all(line.startswith("  ") for line in paragraph.splitlines()):
            body = [EXAMPLES, "```", *(line.removeprefix("  ") for line in paragraph.splitlines()), "```"]
        else:
            body = markdown(paragraph).splitlines()
        lines += [*body, ""]
    return lines[:-1]
