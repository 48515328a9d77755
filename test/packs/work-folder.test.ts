/** The folder in which a server's packs work: sessions that a caller can continue, and the files that remain after it closes. */
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openWorkFolder, type WorkFolder } from "../../packs/server-context.ts";

let root: string;
let folder: string;
let work: WorkFolder;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "helmdeck-work-"));
  folder = join(root, "work");
  work = await openWorkFolder({ folder, env: process.env, now: Date.now });
});
afterEach(async () => {
  await work.sessions.close();
  await work.artifacts.close();
  await rm(root, { recursive: true, force: true });
});

const request = { pack: "test.pack", signal: new AbortController().signal };

it("is not created before a pack needs it", () => {
  expect(existsSync(folder)).toBe(false);
});

it("gives the session of an earlier run to its own caller only", async () => {
  const first = await work.sessions.acquire({ ...request, caller: "alice" });
  await writeFile(join(first.folder, "draft"), "half done");
  await work.sessions.release(first);
  const elsewhere = work.sessions.acquire({ ...request, caller: "bob", sessionId: first.id });
  await expect(elsewhere).rejects.toMatchObject({ code: "not_found" });
  const second = await work.sessions.acquire({ ...request, caller: "alice", sessionId: first.id });
  expect(await readFile(join(second.folder, "draft"), "utf8")).toBe("half done");
});

it("has no sessions left after it closes", async () => {
  const session = await work.sessions.acquire({ ...request, caller: "alice" });
  await work.sessions.release(session);
  expect(existsSync(session.folder)).toBe(true);
  await work.sessions.close();
  expect(existsSync(session.folder)).toBe(false);
});
