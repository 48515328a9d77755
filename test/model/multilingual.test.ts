/** The model of many languages: its tokenizer beside the reference, and the real model in the process of the English one. */
import { hash } from "node:crypto";
import { copyFile, mkdtemp, open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { readSet } from "../../bench/sets/read-set.ts";
import { type FoundModel, MULTILINGUAL_FILES } from "../../model/artefact.ts";
import { PieceTable } from "../../model/piece-table.ts";
import { BuiltInModel } from "../../model/run-model.ts";
import { makeUnigram } from "../../model/unigram.ts";
import { gatherModel, gatherMultilingual, HAS_MULTILINGUAL } from "./gathered.ts";

/** A busy machine takes seconds to load the models. */
const LONG = 120_000;
const TABLE = "multilingual-table.bin";

test("the tokenizer gives the reference's pieces for each of 438 texts", async () => {
  const list = await readFile(
    new URL("../../model/artefact/multilingual-pieces.txt", import.meta.url),
    "utf8",
  );
  const piecesOf = makeUnigram(list);
  const expected = readSet(
    "multilingual-pieces",
    z.strictObject({ text: z.string(), ids: z.array(z.int()) }),
  );
  expect(expected).toHaveLength(438);
  expect(expected.map(({ text: of }) => ({ text: of, ids: piecesOf(of) }))).toEqual(expected);
});

/** In the same file, which somebody may have open. */
async function overwrite(path: string, change: (bytes: Buffer) => Uint8Array): Promise<void> {
  const changed = change(await readFile(path));
  const file = await open(path, "r+");
  await file.truncate(changed.length);
  await file.write(changed, 0, changed.length, 0);
  await file.close();
}

// verifies P-supply-model
describe("the table of word pieces", () => {
  /** 64 rows in four blocks: of the n-th, each byte of numbers is n, each scale 1. */
  const small = Buffer.concat(
    Array.from({ length: 64 }, (_, row) => {
      const scales = Buffer.alloc(32).map((_none, at) => (at % 2 === 0 ? 0x00 : 0x3c));
      return Buffer.concat([Buffer.alloc(256, row), scales]);
    }),
  );
  const reviewed = { sizeBytes: small.length, sha256: hash("sha256", small) };
  const changed = expect.objectContaining({ code: "model_changed" });

  async function written() {
    const folder = await mkdtemp(join(tmpdir(), "helmdeck-table-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const path = join(folder, TABLE);
    await writeFile(path, small);
    return { path, openTable: () => new PieceTable(folder, reviewed) };
  }

  test("gives the rows that are asked for", async () => {
    const table = (await written()).openTable();
    const rows = table.rows([35, 0]);
    expect([...rows.subarray(0, 4)]).toEqual([3 - 8, 2 - 8, 3 - 8, 2 - 8]);
    expect([rows[511], rows[512], rows.length]).toEqual([2 - 8, -8, 1_024]);
    table.close();
  });

  const damages: readonly (readonly [string, (bytes: Buffer) => Uint8Array])[] = [
    ["a byte", (bytes) => bytes.fill(7, 35 * 288, 35 * 288 + 1)],
    ["two rows that change places", (bytes) => Buffer.concat([bytes.subarray(288), bytes.subarray(0, 288)])],
    [
      "blocks that change places",
      (bytes) => Buffer.concat([bytes.subarray(4_608), bytes.subarray(0, 4_608)]),
    ],
    ["a cut", (bytes) => bytes.subarray(0, 35 * 288)],
    ["nothing left", () => Buffer.alloc(0)],
  ];
  test.each(damages)("gives none after %s, before it is opened or later", async (_, damage) => {
    const { path, openTable } = await written();
    const table = openTable();
    expect(table.rows([35])).toHaveLength(512);
    await overwrite(path, damage);
    expect(() => table.rows([35])).toThrow(changed);
    table.close();
    expect(openTable).toThrow(changed);
  });
});

// Its large files are made by model/artefact/multilingual.py and are not in the repository.
describe.skipIf(!HAS_MULTILINGUAL)("beside the English model", () => {
  let home: string;
  let folder: string;
  let made: string;
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), "helmdeck-multilingual-"));
    folder = await gatherModel(join(home, "english"));
    made = await gatherMultilingual(join(home, "made"));
  });
  afterAll(() => rm(home, { recursive: true, force: true }));

  async function started() {
    const multilingual = await mkdtemp(join(home, "installed-"));
    const put = async (name: string) => copyFile(join(made, name), join(multilingual, name));
    for (const { name } of MULTILINGUAL_FILES) await put(name);
    const model = new BuiltInModel({
      find: async (): Promise<FoundModel> => ({ ok: true, folder }),
      findMultilingual: async () => ({ ok: true, folder: multilingual }),
    });
    onTestFinished(() => model.close());
    return { model, put, at: (name: string) => join(multilingual, name) };
  }

  test("finds across languages, in one process", { timeout: LONG }, async () => {
    const { model } = await started();
    const embed = (of: string) => model.embed(of, "multilingual");
    const question = await embed("where is our car parked");
    const [near, far] = [await embed("我们家的车停在地下二层。"), await embed("我一吃虾就会起疹子。")];
    const cosine = (of: Float32Array) => question.reduce((sum, value, at) => sum + value * (of[at] ?? 0), 0);
    expect(question).toHaveLength(512);
    expect(cosine(question)).toBeCloseTo(1, 5);
    expect(cosine(near)).toBeGreaterThan(cosine(far) + 0.1);
    const { processId } = model;
    expect(await model.embed("a")).toHaveLength(384);
    expect(await embed("")).toHaveLength(512);
    await expect(embed("犬 ".repeat(300))).rejects.toMatchObject({
      code: "too_large",
      details: { fits: 254 },
    });
    expect(model.processId).toBe(processId);
  });

  // verifies P-supply-model
  describe("damage leaves no wrong vector, one line, and the English model", () => {
    const changeByte = (path: string) =>
      overwrite(path, (bytes) => bytes.fill((bytes[999] ?? 0) ^ 1, 999, 1_000));
    test.each(MULTILINGUAL_FILES)("$name: a byte, and gone", { timeout: LONG }, async ({ name }) => {
      const { model, put, at } = await started();
      const message = expect.stringMatching(`^[^\\n]*${name}[^\\n]*$`);
      const refused = async (code: string) =>
        expect(model.embed("a", "multilingual")).rejects.toMatchObject({ code, message });
      await changeByte(at(name));
      await refused("model_changed");
      await rm(at(name));
      await refused("model_missing");
      const { processId } = model;
      expect(await model.embed("a")).toHaveLength(384);
      await put(name);
      expect(await model.embed("a", "multilingual")).toHaveLength(512);
      expect(model.processId).toBe(processId);
    });

    test("the table, while it is read: in place, then another in its place", { timeout: LONG }, async () => {
      const { model, put, at } = await started();
      const asked = "Wo ist der Schlüssel?";
      const before = await model.embed(asked, "multilingual");
      await overwrite(at(TABLE), (bytes) => Buffer.concat([bytes.subarray(288), bytes.subarray(0, 288)]));
      for (const _ of [1, 2])
        await expect(model.embed(asked, "multilingual")).rejects.toMatchObject({ code: "model_changed" });
      expect(await model.embed("a")).toHaveLength(384);
      await rm(at(TABLE));
      await put(TABLE);
      expect(await model.embed(asked, "multilingual")).toEqual(before);
      await copyFile(at("multilingual.onnx"), at("other"));
      await rename(at("other"), at(TABLE));
      expect(await model.embed(asked, "multilingual")).toEqual(before); // what was checked is still open
    });
  });

  test("is missing in an installation without it, which works as before", { timeout: LONG }, async () => {
    const model = new BuiltInModel({ find: async () => ({ ok: true, folder }) });
    onTestFinished(() => model.close());
    await expect(model.embed("a", "multilingual")).rejects.toMatchObject({ code: "model_missing" });
    expect(await model.embed("a")).toHaveLength(384);
  });
});
