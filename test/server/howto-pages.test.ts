/** Rules for all how-to pages for MCP clients: each begins with the command, and only one page explains it. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../scripts/build/build.ts";

const PAGES = ["claude-code.md", "coding-agents.md", "claude-desktop.md", "openclaw-mcp.md"];
const LINK = "First [install the command](install-the-command.md).";
const read = (page: string) => readFile(join(ROOT, "docs", "howto", page), "utf8");

test.each(PAGES)("%s explains how to install the command before any other setup", async (page) => {
  const text = await read(page);
  expect(text).toContain(LINK);
  expect(text.indexOf(LINK)).toBeLessThan(text.indexOf("## Set it up"));
  expect(text).not.toContain("npm install");
});

test("the page about the command lists each way to install it", async () => {
  expect(await read("install-the-command.md")).toMatch(
    /npm install --global helmdeck-memory.*pack:engine.*\.tgz.*npx/s,
  );
});
