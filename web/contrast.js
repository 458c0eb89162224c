// Check the colours against WCAG AA: 4.5 : 1 for text, 3 : 1 for other elements. Run by `npm run contrast`.

import { readFileSync } from "node:fs";

const css = readFileSync(new URL("./src/style/colours.css", import.meta.url), "utf8");

function read(block) {
  return Object.fromEntries(
    [...block.matchAll(/--([\w-]+):\s*(#[0-9a-f]{6})/g)].map(([, name, value]) => [name, value]),
  );
}

const [, light, dark] = css.split(/:root[^{]*\{/).map(read);

const TEXT = [
  ...["page", "panel", "sunken", "accent-soft", "running-soft", "good-soft", "bad-soft"].map((on) => [
    "ink",
    on,
  ]),
  ...["page", "panel", "sunken", "accent-soft", "running-soft", "good-soft", "bad-soft"].map((on) => [
    "ink-faint",
    on,
  ]),
  ...["panel", "sunken", "accent-soft", "good-soft", "bad-soft"].map((on) => ["accent", on]),
  ...["panel", "sunken", "running-soft", "good-soft", "bad-soft"].map((on) => ["running", on]),
  ...["panel", "sunken", "good-soft", "bad-soft"].map((on) => ["good", on]),
  ...["panel", "sunken", "bad-soft"].map((on) => ["bad", on]),
  ["accent-ink", "accent"],
  ["panel", "ink"],
  ["world-marker-text", "world-marker"],
];
const SEEN = [
  ["line-strong", "panel"],
  ["accent", "panel"],
  ["accent", "page"],
  ["world-karel", "panel"],
  ["world-karel", "world-floor"],
  ["world-marker", "world-floor"],
  ["world-marker", "world-exit"],
  ["world-karel", "world-exit"],
  ["world-wall", "panel"],
  ["world-wall", "world-floor"],
  ["world-marker", "panel"],
];

function luminance(colour) {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const channel = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(first, second) {
  const [low, high] = [luminance(first), luminance(second)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

let failed = 0;
for (const [theme, colours] of Object.entries({ light, dark })) {
  for (const [pairs, least] of [
    [TEXT, 4.5],
    [SEEN, 3],
  ]) {
    for (const [front, back] of pairs) {
      const found = contrast(colours[front], colours[back]);
      if (found >= least) continue;
      failed += 1;
      console.error(`${theme}: ${front} on ${back} has ${found.toFixed(2)} : 1, expected ${least} : 1`);
    }
  }
}
if (failed) process.exit(1);
console.log(`all ${2 * (TEXT.length + SEEN.length)} pairs of colours have enough contrast`);
