// A hash of the page's source. tests/studio/test_page.py computes the same hash without Node.js, and fails if
// the shipped page was built from another source.

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const LEFT_OUT = new Set(["node_modules", "dist"]);

function filesIn(folder, prefix = "") {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (LEFT_OUT.has(entry.name) || entry.name.startsWith(".")) return [];
    const path = prefix + entry.name;
    return entry.isDirectory() ? filesIn(join(folder, entry.name), `${path}/`) : [path];
  });
}

export function sourceHash(folder) {
  const hash = createHash("sha256");
  for (const path of filesIn(folder).sort()) {
    const contents = createHash("sha256")
      .update(readFileSync(join(folder, path)))
      .digest("hex");
    hash.update(`${contents}  ${path}\n`);
  }
  return hash.digest("hex");
}
