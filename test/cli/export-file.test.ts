/** The file of an export: private from its first byte, complete or absent, and never in place of another file. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { writePrivateFile } from "../../commands/export.ts";
import { isHelmdeckError } from "../../engine/errors.ts";
import { tempFolder } from "../app/fixtures/memories.ts";

/** Writes a line, reports it, and then never ends. */
const ENDLESS_EXPORT = `
  const { writePrivateFile } = await import(${JSON.stringify(new URL("../../commands/export.ts", import.meta.url))});
  await writePrivateFile(process.argv[1], async (append) => {
    await append("one\\n");
    console.log("written");
    await new Promise(() => setInterval(() => {}, 60_000));
  });`;

let folder = "";
beforeEach(async () => {
  folder = await tempFolder();
});

const at = (name: string) => join(folder, name);
const modeOf = (path: string) => statSync(path).mode & 0o777;

async function refusal(work: Promise<void>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(isHelmdeckError(error, "invalid_input")).toBe(true);
  return (error as Error).message; // checked above
}

describe("an export's file", () => {
  test("is synced to disk, content and then folder entry, when the export reports success", async () => {
    const synced: string[] = [];
    const handle = await open(folder);
    const prototype: FileHandle = Object.getPrototypeOf(handle);
    await handle.close();
    const sync = prototype.sync;
    const spy = vi.spyOn(prototype, "sync").mockImplementation(async function (this: FileHandle) {
      synced.push((await this.stat()).isDirectory() ? `folder with ${readdirSync(folder).join()}` : "file");
      return sync.call(this);
    });
    onTestFinished(() => spy.mockRestore());
    await writePrivateFile(at("out.jsonl"), (append) => append("one\n"));
    expect(synced).toEqual(["file", expect.stringMatching(/^folder with .*\bout\.jsonl$/)]);
  });

  test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
    "leaves nothing when %s ends the process",
    async (signal) => {
      const child = spawn(process.execPath, ["--input-type=module", "-e", ENDLESS_EXPORT, at("out.jsonl")]);
      const closed = once(child, "close");
      await once(child.stdout, "data");
      expect(readdirSync(folder)).toHaveLength(1);
      child.kill(signal);
      expect(await closed).toEqual([null, signal]);
      expect(readdirSync(folder)).toEqual([]);
    },
  );

  // verifies P-disk-owner-only
  test("is readable only by its owner, during and after writing, whatever the umask", async () => {
    const before = process.umask(0);
    try {
      await writePrivateFile(at("out.jsonl"), async (append) => {
        await append("one\n");
        const names = readdirSync(folder);
        expect(names).toHaveLength(1);
        for (const name of names) expect(modeOf(at(name))).toBe(0o600);
        await append("two\n");
      });
    } finally {
      process.umask(before);
    }
    expect(modeOf(at("out.jsonl"))).toBe(0o600);
    expect(readFileSync(at("out.jsonl"), "utf8")).toBe("one\ntwo\n");
    expect(readdirSync(folder)).toEqual(["out.jsonl"]);
  });

  test("appears only when it is complete", async () => {
    await writePrivateFile(at("out.jsonl"), async (append) => {
      await append("one\n");
      expect(existsSync(at("out.jsonl"))).toBe(false);
    });
    expect(existsSync(at("out.jsonl"))).toBe(true);
  });

  test("leaves nothing if writing fails, and throws the error", async () => {
    const failed = new Error("the source broke");
    await expect(
      writePrivateFile(at("out.jsonl"), async (append) => {
        await append("one\n");
        throw failed;
      }),
    ).rejects.toBe(failed);
    expect(readdirSync(folder)).toEqual([]);
  });

  test("never replaces a file that appears while it is written", async () => {
    const message = await refusal(
      writePrivateFile(at("out.jsonl"), async () => writeFileSync(at("out.jsonl"), "somebody else's")),
    );
    expect(message).toMatch(/already exists/);
    expect(readFileSync(at("out.jsonl"), "utf8")).toBe("somebody else's");
    expect(readdirSync(folder)).toEqual(["out.jsonl"]);
  });

  test.each(["a file", "nothing"])("is not written through a link to %s", async (target) => {
    if (target === "a file") writeFileSync(at("target"), "kept");
    symlinkSync(at("target"), at("link"));
    expect(await refusal(writePrivateFile(at("link"), (append) => append("secret")))).toMatch(
      /already exists/,
    );
    expect(existsSync(at("target")) ? readFileSync(at("target"), "utf8") : "").not.toContain("secret");
  });

  test.each([
    ["in a folder that does not exist", () => at("no/out.jsonl"), /its folder does not exist/],
    ["under a file", () => at("file/out.jsonl"), /a part of the path is not a folder/],
    ["in place of a folder", () => at("folder"), /already exists/],
  ])("%s is refused in one sentence", async (_name, path, message) => {
    writeFileSync(at("file"), "");
    mkdirSync(at("folder"));
    expect(await refusal(writePrivateFile(path(), (append) => append("x")))).toMatch(message);
    expect(readdirSync(folder).sort()).toEqual(["file", "folder"]);
  });
});
