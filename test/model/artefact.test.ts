/** The built-in model's files: installed whole or not at all, and refused when a byte differs. */
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, open, readdir, rm, stat, truncate } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  checkModel,
  findModel,
  installModel,
  MODEL_FILES,
  MODEL_ID,
  modelFolderIn,
  readModelFile,
} from "../../model/artefact.ts";
import { gatherModel } from "./gathered.ts";

let home: string;
let source: string;
let state: string;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "helmdeck-model-"));
  source = await gatherModel(join(home, "source"));
});
beforeEach(async () => {
  state = await mkdtemp(join(home, "state-"));
});
afterAll(() => rm(home, { recursive: true, force: true }));

async function changeByte(path: string): Promise<void> {
  const file = await open(path, "r+");
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, 1_000);
  buffer[0] = (buffer[0] ?? 0) ^ 1;
  await file.write(buffer, 0, 1, 1_000);
  await file.close();
}

describe("installing", () => {
  it("puts the files into a folder named after them, for their owner only", async () => {
    const { folder, isNew } = await installModel(source, state);
    expect({ folder, isNew }).toEqual({ folder: modelFolderIn(state), isNew: true });
    expect(folder).toBe(join(state, "helmdeck-memory-model", MODEL_ID));
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    for (const { name } of MODEL_FILES) expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
    expect(await findModel(state, undefined)).toEqual({ folder, ok: true });
    expect(await installModel(source, state)).toEqual({ folder, isNew: false });
    expect(await readdir(join(state, "helmdeck-memory-model"))).toEqual([MODEL_ID]);
  });

  it("replaces a damaged installation", async () => {
    const { folder } = await installModel(source, state);
    await changeByte(join(folder, "model.ort"));
    expect(await checkModel(folder)).toMatchObject({ ok: false, why: "changed" });
    expect(await installModel(source, state)).toEqual({ folder, isNew: true });
    expect(await checkModel(folder)).toEqual({ ok: true });
  });

  it("leaves nothing if the source is damaged", async () => {
    const damaged = join(home, "damaged");
    await cp(source, damaged, { recursive: true });
    await changeByte(join(damaged, "ort-wasm-simd-threaded.wasm"));
    await expect(installModel(damaged, state)).rejects.toMatchObject({ code: "model_changed" });
    expect(await readdir(join(state, "helmdeck-memory-model"))).toEqual([]);
  });

  it("ends in one whole folder if several processes install at once", async () => {
    const all = await Promise.all([1, 2, 3].map(() => installModel(source, state)));
    expect(new Set(all.map(({ folder }) => folder)).size).toBe(1);
    expect(await checkModel(modelFolderIn(state))).toEqual({ ok: true });
    expect(await readdir(join(state, "helmdeck-memory-model"))).toEqual([MODEL_ID]);
  });
});

describe("finding", () => {
  it("says what is missing and how to get it", async () => {
    const found = await findModel(state, undefined);
    expect(found).toMatchObject({ ok: false, why: "missing" });
    expect(found).toHaveProperty("problem", expect.stringContaining("helmdeck-memory model install"));
  });

  it("takes the package beside the program if the state folder has none", async () => {
    expect(await findModel(state, source)).toEqual({ folder: source, ok: true });
    const { folder } = await installModel(source, state);
    expect(await findModel(state, source)).toEqual({ folder, ok: true });
  });

  it("does not pass over a damaged installation", async () => {
    const { folder } = await installModel(source, state);
    await truncate(join(folder, "model.ort"), 1_000);
    expect(await findModel(state, source)).toMatchObject({ folder, ok: false, why: "changed" });
  });

  it("says that another version is there", async () => {
    await mkdir(join(state, "helmdeck-memory-model", "0".repeat(64)), { recursive: true });
    expect(await findModel(state, undefined)).toMatchObject({ ok: false, why: "other-version" });
  });
});

// verifies P-supply-model
it("gives no byte of a file that differs", async () => {
  const { folder } = await installModel(source, state);
  const path = join(folder, "tokenizer.json");
  await changeByte(path);
  expect(existsSync(path)).toBe(true);
  await expect(readModelFile(folder, "tokenizer.json")).rejects.toMatchObject({ code: "model_changed" });
  await rm(path);
  await expect(readModelFile(folder, "tokenizer.json")).rejects.toMatchObject({ code: "model_missing" });
});
