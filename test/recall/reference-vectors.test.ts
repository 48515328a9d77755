/** Reference vectors: embedded once per space and texts, stored as they arrive, and never confused with others. */
import { describe, expect, test } from "vitest";
import { HelmdeckError } from "../../engine/errors.ts";
import type { ReferenceVectors as KeptVectors, MemoryStore } from "../../engine/store/memory-store.ts";
import { openStoreInMemory } from "../../engine/store/sqlite/open-in-memory.ts";
import type { Embedder } from "../../recall/embedder.ts";
import { Questions } from "../../recall/meaning/questions.ts";
import {
  REFERENCE_TEXTS,
  type ReferenceCache,
  ReferenceVectors,
} from "../../recall/meaning/reference-vectors.ts";
import { directionOf } from "./meaning.ts";

interface Model extends Embedder {
  /** The texts of each request. */
  readonly requests: (readonly string[])[];
}

/** Requests after the first `most` time out, as on a busy machine. */
function modelOf(space = "drawn", { dimensions = 64, most = Number.POSITIVE_INFINITY } = {}): Model {
  const requests: (readonly string[])[] = [];
  const ask = async (texts: readonly string[]): Promise<readonly Float32Array[]> => {
    requests.push(texts);
    if (requests.length > most) throw new HelmdeckError("deadline_exceeded", "Too late.");
    return texts.map((text) => directionOf(text).slice(0, dimensions));
  };
  return {
    model: space,
    space,
    dimensions: undefined,
    requests,
    embedDocuments: async (texts) => ({ vectors: await ask(texts), truncated: [] }),
    embedQuery: async (text) => (await ask([text]))[0] ?? new Float32Array(),
    close: () => {},
  };
}

const cacheOver = (store: MemoryStore): ReferenceCache => ({
  load: (space) => store.referenceVectors(space),
  save: (space, made) => store.putReferenceVectors(space, made),
});

/** Another process with the same store. */
const processOver = (store: MemoryStore) => new ReferenceVectors(cacheOver(store));

const textsOf = ({ requests }: Model) => requests.flat();

describe("reference vectors", () => {
  test("are made by the first process, and used by all later ones", async () => {
    const store = await openStoreInMemory();
    const first = modelOf();
    const made = await processOver(store).get(first);
    expect(textsOf(first)).toEqual(REFERENCE_TEXTS);
    const second = modelOf();
    expect(await processOver(store).get(second)).toEqual(made);
    expect(second.requests).toEqual([]);
  });

  test("reduce a one-shot question to one request: its own", async () => {
    const store = await openStoreInMemory();
    await processOver(store).get(modelOf());
    const model = modelOf();
    const questions = new Questions({ references: processOver(store) });
    expect(await questions.read("where is the key", model)).toMatchObject({ kind: "read" });
    expect(model.requests).toEqual([["where is the key"]]);
  });

  test("are stored batch by batch: short-lived processes complete them together", async () => {
    const store = await openStoreInMemory();
    const asked: string[] = [];
    for (let processes = 0; processes < REFERENCE_TEXTS.length; processes += 1) {
      const hurried = modelOf("drawn", { most: 1 });
      await processOver(store)
        .get(hurried)
        .catch(() => undefined);
      asked.push(...(hurried.requests[0] ?? []));
    }
    expect(asked).toEqual(REFERENCE_TEXTS);
    const last = modelOf();
    await processOver(store).get(last);
    expect(last.requests).toEqual([]);
  });

  test("of another vector space are not used, and both are kept", async () => {
    const store = await openStoreInMemory();
    await processOver(store).get(modelOf("one"));
    const other = modelOf("other");
    await processOver(store).get(other);
    expect(textsOf(other)).toEqual(REFERENCE_TEXTS);
    for (const space of ["one", "other"]) {
      const again = modelOf(space);
      await processOver(store).get(again);
      expect(again.requests).toEqual([]);
    }
  });

  const spoilt: Readonly<Record<string, (kept: KeptVectors) => KeptVectors>> = {
    "of other texts": (kept) => ({ ...kept, fingerprint: "0000000000000000" as KeptVectors["fingerprint"] }),
    "of more texts than there are": (kept) => ({ ...kept, dimensions: kept.dimensions / 2 }),
    "that are all the same": (kept) => ({ ...kept, vectors: kept.vectors.map(() => 1 / 8) }),
  };
  for (const [what, spoil] of Object.entries(spoilt)) {
    test(`${what} are not used, and are made again`, async () => {
      const store = await openStoreInMemory();
      const made = await processOver(store).get(modelOf());
      const kept = await store.referenceVectors("drawn");
      if (kept !== undefined) await store.putReferenceVectors("drawn", spoil(kept));
      const model = modelOf();
      expect(await processOver(store).get(model)).toEqual(made);
      expect(textsOf(model)).toEqual(REFERENCE_TEXTS);
      expect(await store.referenceVectors("drawn")).toEqual(kept);
    });
  }

  test("of other dimensions than the question are made again and stored", async () => {
    const store = await openStoreInMemory();
    await processOver(store).get(modelOf("drawn", { dimensions: 32 }));
    const model = modelOf();
    const questions = new Questions({ references: processOver(store) });
    expect(await questions.read("q", model)).toMatchObject({ kind: "read" });
    expect(textsOf(model)).toEqual(["q", ...REFERENCE_TEXTS]);
    expect((await store.referenceVectors("drawn"))?.dimensions).toBe(64);
  });

  test("are made when the cache can neither be read nor written", async () => {
    const broken: ReferenceCache = {
      load: () => Promise.reject(new HelmdeckError("store_locked", "Busy.")),
      save: () => Promise.reject(new HelmdeckError("store_readonly", "Read-only.")),
    };
    const model = modelOf();
    expect(await new ReferenceVectors(broken).get(model)).toHaveLength(REFERENCE_TEXTS.length);
  });
});
