"""The files of the page, read once: a request's path is looked up in their names, never on the disk."""

import gzip
import hashlib
from dataclasses import dataclass
from pathlib import Path

STATIC = Path(__file__).parent / "static"
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
COMPRESSED = (".css", ".html", ".js", ".json", ".map", ".svg", ".txt", ".webmanifest")
FOREVER = "public, max-age=31536000, immutable"
MISSING = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>LEAPS studio</title>
<body><h1>The page is not built</h1>
<p>The server runs, but the page's files are missing. Build them with <code>make studio-page</code>,
and start <code>leaps studio</code> again.</p></body></html>
"""


@dataclass(frozen=True)
class Page:
    """One file."""

    content: bytes
    packed: bytes | None
    """the same, compressed, where that is worth it"""
    kind: str
    cache: str

    @property
    def tag(self) -> str:
        """A name of the content, for browsers that have it already."""
        return f'"{hashlib.sha256(self.content).hexdigest()[:20]}"'


def page(name: str, content: bytes) -> Page:
    suffix = Path(name).suffix
    packed = gzip.compress(content, 9, mtime=0) if suffix in COMPRESSED else None
    worth = packed is not None and len(packed) < len(content)
    return Page(
        content,
        packed if worth else None,
        TYPES.get(suffix, "application/octet-stream"),
        FOREVER if name.startswith("assets/") else "no-cache",
    )


def load_pages(folder: Path = STATIC) -> dict[str, Page]:
    """All files by the path under which they are asked for; the page itself is `/`."""
    pages = {}
    if (folder / "index.html").is_file():
        for file in sorted(folder.rglob("*")):
            name = file.relative_to(folder).as_posix()
            if file.is_file() and not any(part.startswith(".") for part in Path(name).parts):
                pages[f"/{name}"] = page(name, file.read_bytes())
    pages["/"] = pages.pop("/index.html", page("index.html", MISSING.encode()))
    return pages
