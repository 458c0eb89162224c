import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { defineConfig } from "vite";
import { sourceHash } from "./source-hash.js";

const here = import.meta.dirname;
// STUDIO_OUT: output folder of a check, which compares the build with the shipped page.
const out = resolve(here, process.env.STUDIO_OUT ?? "../leaps/studio/static");

export default defineConfig({
  root: here,
  base: "./",
  build: {
    outDir: out,
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: false,
    target: "es2022",
  },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  plugins: [
    {
      name: "source-hash",
      closeBundle() {
        writeFileSync(join(out, "source.json"), `${JSON.stringify({ sha256: sourceHash(here) })}\n`);
      },
    },
  ],
});
