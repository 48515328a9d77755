/** Artifacts on this machine: they are read back unchanged, only by their own caller, and within the limits. */
import { mkdir, readdir, readFile, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ArtifactRef } from "../../../../packs/engine/pack-contract.ts";
import { type LocalArtifactsOptions, openLocalArtifacts } from "../../../../packs/local/local-artifacts.ts";
import { tempFolder } from "./folders.ts";

const NOW = Date.parse("2026-11-20T12:00:00Z");
const DAY_MS = 24 * 3_600 * 1_000;

async function rig(options: Partial<LocalArtifactsOptions> = {}) {
  const root = join(await tempFolder(), "artifacts");
  const clock = { time: NOW };
  const store = await openLocalArtifacts({ root, now: () => clock.time, ...options });
  const put = (caller: string, text: string, more = {}) =>
    store.put(caller, { name: "a.txt", mediaType: "text/plain", content: Buffer.from(text), ...more });
  const read = async (caller: string, id: string) => {
    const found = await store.get(caller, id);
    return found && { ref: found.ref, text: Buffer.from(found.content).toString() };
  };
  return { root, clock, store, put, read };
}

const everyFile = async (root: string): Promise<readonly string[]> => {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
};

const fileOf = async (root: string, { id }: ArtifactRef, ending: string): Promise<string> => {
  const file = (await everyFile(root)).find((path) => path.endsWith(id + ending));
  if (file === undefined) throw new Error("no such file");
  return file;
};

describe("an artifact", () => {
  it("has the same content when it is read, also by the next server", async () => {
    const { root, put, store } = await rig();
    const ref = await put("alice", "diff --git");
    expect(ref).toEqual({
      id: expect.stringMatching(/^art_[0-9a-f]{32}$/),
      name: "a.txt",
      mediaType: "text/plain",
      sizeBytes: 10,
      sha256: "35ab12569421d1cd6fa0a9a3deb5b40126a1a8272702923dc722409bdaf5801d",
    });
    await store.close();
    const next = await openLocalArtifacts({ root, now: () => NOW });
    expect(await next.get("alice", ref.id)).toEqual({ ref, content: Buffer.from("diff --git") });
    expect(await next.has("alice", ref.id)).toBe(true);
  });

  it("is in files that only their owner can read", async () => {
    const { root, put } = await rig();
    await put("alice", "x");
    for (const file of await everyFile(root)) expect((await stat(file)).mode & 0o777).toBe(0o600);
    const folders = (await readdir(root, { withFileTypes: true })).map((entry) => join(root, entry.name));
    for (const folder of [root, ...folders]) expect((await stat(folder)).mode & 0o777).toBe(0o700);
  });

  it("is removed when it is deleted, and a second deletion is no error", async () => {
    const { root, put, store } = await rig();
    const { id } = await put("alice", "x");
    await store.delete("alice", id);
    await store.delete("alice", id);
    expect(await store.get("alice", id)).toBeUndefined();
    expect(await everyFile(root)).toEqual([]);
  });

  it("is refused if it was changed on disk", async () => {
    const { root, put, store } = await rig();
    const ref = await put("alice", "true");
    await writeFile(await fileOf(root, ref, ".bin"), "tru3");
    await expect(store.get("alice", ref.id)).rejects.toMatchObject({ code: "artifact_refused" });
  });

  it("is not found if its record has another id", async () => {
    const { root, put, store } = await rig();
    const [one, two] = [await put("alice", "1"), await put("alice", "2")];
    await writeFile(await fileOf(root, two, ".json"), await readFile(await fileOf(root, one, ".json")));
    expect(await store.get("alice", two.id)).toBeUndefined();
  });
});

describe("another caller's artifact", () => {
  const hostile = [
    "alice ",
    "",
    "x".repeat(9_000),
    ..."bob Alice .. ../alice a/b alice\0 ünïcode".split(" "),
  ];
  it.each(hostile)("is not found for %j", async (caller) => {
    const { put, store, read } = await rig();
    const { id } = await put("alice", "x");
    expect(await store.get(caller, id)).toBeUndefined();
    expect(await store.has(caller, id)).toBe(false);
    await store.delete(caller, id);
    expect((await read("alice", id))?.text).toBe("x");
    const own = await put(caller, "y");
    expect((await read(caller, own.id))?.text).toBe("y");
    expect(await store.has("alice", own.id)).toBe(false);
  });

  it.each(["", ".", "../x", "art_", "art_0", `art_${"0".repeat(32)}`, `art_${"0".repeat(31)}/`, "a\0b"])(
    "cannot be read by the id %j",
    async (id) => {
      const { put, store, root } = await rig();
      await put("alice", "x");
      expect(await store.get("alice", id)).toBeUndefined();
      expect(await store.has("alice", id)).toBe(false);
      await store.delete("alice", id);
      expect(await everyFile(root)).toHaveLength(2);
    },
  );

  it("cannot be reached by an id that is a path to it", async () => {
    const { put, store, root } = await rig();
    const ref = await put("alice", "x");
    const folder = (await fileOf(root, ref, ".bin")).split("/").at(-2);
    expect(await store.get("bob", `../${folder}/${ref.id}`)).toBeUndefined();
    await store.delete("bob", `../${folder}/${ref.id}`);
    expect(await store.has("alice", ref.id)).toBe(true);
  });
});

describe("a name", () => {
  const NO_NAMES = [
    "",
    "a\nb",
    "x".repeat(256),
    ...". .. ../x /etc/passwd a/b a\\b a\u202Etxt \ud800".split(" "),
  ];
  it.each(NO_NAMES)("like %j is refused, and nothing is stored", async (name) => {
    const { put, root } = await rig();
    await expect(put("alice", "x", { name })).rejects.toMatchObject({ code: "artifact_refused" });
    expect(await everyFile(root)).toEqual([]);
  });

  it.each(["NUL", "-rf", "~", "ein Bild.png", "日本語.txt", "..."])(
    "like %j is a label, not a path",
    async (name) => {
      const { put, read, root } = await rig();
      const { id } = await put("alice", "x", { name });
      expect((await read("alice", id))?.ref.name).toBe(name);
      for (const file of await everyFile(root)) expect(file).not.toContain(name);
    },
  );

  it.each(["", "text", "text/html\r\nX: y", "text/html; x", "/", "a b/c"])(
    "with a media type like %j is refused",
    async (mediaType) => {
      const { put } = await rig();
      await expect(put("alice", "x", { mediaType })).rejects.toMatchObject({ code: "artifact_refused" });
    },
  );
});

describe("the limits", () => {
  it("apply to the size of one artifact, and to the total of a caller", async () => {
    const { put } = await rig({ mostBytes: 10, mostCallerBytes: 15 });
    await expect(put("alice", "12345678901")).rejects.toMatchObject({ code: "artifact_refused" });
    await put("alice", "1234567890");
    await expect(put("alice", "123456")).rejects.toThrow(
      "exceeds the limit of 15 bytes per caller; 10 are in use",
    );
    await put("alice", "12345");
    await put("bob", "123456");
  });

  it("apply to the number of artifacts, also if many are stored at once", async () => {
    const { put, root } = await rig({ mostCount: 3 });
    const outcomes = await Promise.allSettled([1, 2, 3, 4, 5].map((n) => put("alice", `${n}`)));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
    expect(await everyFile(root)).toHaveLength(6);
  });

  it("hide and then delete expired artifacts, which no longer count", async () => {
    const { put, store, clock, root } = await rig({ mostCount: 1, keepMs: DAY_MS });
    const { id } = await put("alice", "x");
    const other = await put("bob", "y");
    clock.time += DAY_MS;
    expect(await store.get("alice", id)).toBeUndefined();
    expect(await store.has("alice", id)).toBe(false);
    await put("alice", "new");
    expect(await store.sweep()).toBe(1);
    expect(await store.has("bob", other.id)).toBe(false);
    expect(await everyFile(root)).toHaveLength(2);
  });

  // verifies P-disk-own-names
  it("delete what a kill left half written, but not a write in progress, and nobody else's file", async () => {
    const { put, store, root, clock } = await rig();
    const ref = await put("alice", "x");
    const [content, hex] = [await fileOf(root, ref, ".bin"), "0123456789abcdef0123456789abcdef"];
    const [ours, theirs] = [
      [`art_${hex}.bin`, `.art_${hex}.json.0123456789ab.tmp`],
      [`${ref.id}.bin.left`, `art_${hex}.bin.bak`, "report.json", `.art_${hex}.tmp`],
    ];
    for (const name of [...ours, ...theirs]) {
      await writeFile(join(dirname(content), name), "");
      await utimes(join(dirname(content), name), NOW / 1_000, NOW / 1_000);
    }
    const elsewhere = join(dirname(root), "elsewhere");
    await mkdir(elsewhere);
    await writeFile(join(elsewhere, `art_${hex}.bin`), "theirs");
    await utimes(join(elsewhere, `art_${hex}.bin`), 0, 0);
    await symlink(elsewhere, join(root, "0".repeat(64)));
    await store.sweep();
    expect(await everyFile(root)).toHaveLength(2 + ours.length + theirs.length);
    clock.time += DAY_MS + 1;
    await store.sweep();
    expect(await everyFile(root)).toHaveLength(2 + theirs.length);
    expect(await readdir(elsewhere)).toHaveLength(1);
  });
});
