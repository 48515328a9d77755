/** The journal: private from its first byte, complete after a kill, and refused if it is invalid. */
import { globSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { fingerprint, Journal, journalFolder } from "../../install/journal.ts";
import { testFolder } from "./fixtures.ts";

let folder: string;

beforeEach(() => {
  folder = join(testFolder(), "deep", "install");
});

describe("the journal", () => {
  it("has no file until something is recorded", async () => {
    const journal = await Journal.read(folder);
    expect(journal.entries).toEqual({});
    expect(globSync(join(folder, "**"))).toEqual([]);
  });

  // verifies P-disk-own-names
  it("leaves what somebody else put into its folder", async () => {
    const journal = await Journal.read(folder);
    await journal.keepCopy(Buffer.from("{}"));
    writeFileSync(join(folder, "notes.md"), "theirs");
    await journal.forget({ keepCopy: false });
    expect(readdirSync(folder)).toEqual(["notes.md"]);
  });

  it("reads what it recorded, and drops an entry that is undefined", async () => {
    const journal = await Journal.read(folder);
    const search = { before: { search: { provider: "none" } }, sets: [{ search: {} }], allowed: ["ollama"] };
    await journal.record({ target: { kind: "container", name: "claw" }, search, madeNetwork: true });
    await journal.record({ madeNetwork: undefined });
    expect((await Journal.read(folder)).entries).toEqual({
      target: { kind: "container", name: "claw" },
      search,
    });
  });

  it("gives no other account access to its files, the configuration's copy included, whatever the umask", async () => {
    const before = process.umask(0o000);
    try {
      const journal = await Journal.read(folder);
      await journal.keepCopy(Buffer.from("{ token: 'secret' }"));
      await journal.record({ config: { path: "/x", existed: true } });
    } finally {
      process.umask(before);
    }
    const modes = globSync(join(folder, "*")).map((file) => statSync(file).mode & 0o777);
    expect(modes).toEqual([0o600, 0o600]);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  it("makes a folder private that other accounts could read", async () => {
    mkdirSync(folder, { recursive: true, mode: 0o755 });
    await (await Journal.read(folder)).record({ madeNetwork: true });
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  it("keeps the copy byte for byte, and deletes it when it is no longer wanted", async () => {
    const bytes = Buffer.from([0xef, 0xbb, 0xbf, 0x7b, 0x7d, 0x0d, 0x0a, 0x00, 0xff]);
    const journal = await Journal.read(folder);
    await journal.keepCopy(bytes);
    expect(fingerprint(await journal.readCopy())).toBe(fingerprint(bytes));
    await journal.forget({ keepCopy: true });
    expect(readFileSync(journal.copyPath)).toEqual(bytes);
    await journal.forget({ keepCopy: false });
    expect(globSync(join(folder, "**"))).toEqual([]);
  });

  it.each([
    "",
    "{",
    "[]",
    '{"version":2}',
    '{"version":1,"unknown":1}',
    '{"version":1,"target":{"kind":"moon"}}',
  ])("rejects %j", async (text) => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "journal.json"), text);
    await expect(Journal.read(folder)).rejects.toThrow("cannot be read as the installer's journal");
  });

  it("is in the account's state folder", () => {
    expect(journalFolder({}, "/home/u")).toBe("/home/u/.local/state/helmdeck-memory/install");
    expect(journalFolder({ XDG_STATE_HOME: "/s" }, "/home/u")).toBe("/s/helmdeck-memory/install");
    expect(journalFolder({ XDG_STATE_HOME: "" }, "/home/u")).toContain("/home/u/");
  });
});
