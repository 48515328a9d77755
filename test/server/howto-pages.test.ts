/** What the how-to pages of MCP clients have in common: each works from nothing, and all say the same of that. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../scripts/build/build.ts";

const PAGES = ["claude-code.md", "gemini-cli.md", "claude-desktop.md", "openclaw-mcp.md"];
const HEADING = "## Put the command onto your path\n";

test("each says how the command gets onto the path, before anything else is set up", async () => {
  const pages = await Promise.all(PAGES.map((page) => readFile(join(ROOT, "docs", "howto", page), "utf8")));
  const sections = pages.map((page) => page.split(HEADING)[1]?.split("\n## ")[0]);
  expect(sections[0]).toMatch(/npm install --global helmdeck-memory.*pack:engine.*\.tgz.*npx/s);
  expect(new Set(sections).size).toBe(1);
  for (const page of pages) expect(page.indexOf(HEADING)).toBeLessThan(page.indexOf("## Set it up"));
});
