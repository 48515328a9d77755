/** The built-in model as OpenClaw's embedding provider. */
import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { HelmdeckError } from "../../engine/errors.ts";
import { NOTES_PLUGIN_ID, NOTES_PROVIDER } from "../../plugin/notes/notes-names.ts";
import { type EmbedsText, LIFT, makeNotesProvider, NOTES_MODEL } from "../../plugin/notes/notes-provider.ts";
import { registerNotes } from "../../plugin/notes/register-notes.ts";
import type { HostApi } from "../../plugin/openclaw-api.ts";
import { tempFolder } from "../app/fixtures/memories.ts";

type Adapter = Parameters<HostApi["registerEmbeddingProvider"]>[0];

describe("a vector for OpenClaw", () => {
  const vectors: Readonly<Record<string, readonly number[]>> = {
    north: [0, 1],
    east: [1, 0],
    "north-east": [Math.SQRT1_2, Math.SQRT1_2],
    south: [0, -1],
  };
  const provider = provided({ embed: async (text) => Float32Array.from(vectors[text] ?? []) });

  it.each([
    ["north", "north", 1],
    ["north", "north-east", Math.SQRT1_2],
    ["north", "east", 0],
    ["north", "south", -1],
  ])("has length 1, and %s and %s are nearer by the same rule", async (one, other, cosine) => {
    const [a = [], b = []] = await provider.embedBatch([one, other]);
    expect(dot(a, a)).toBeCloseTo(1, 6);
    expect(dot(a, b)).toBeCloseTo((1 - LIFT) * cosine + LIFT, 6);
  });

  it("has one more number than the model's, and its model's name names the rule", async () => {
    expect(provider.dimensions).toBe(385);
    expect(NOTES_MODEL).toMatch(new RegExp(`\\+${LIFT}$`));
    expect(await provider.embed("north")).toHaveLength(3);
  });
});

describe("a batch", () => {
  it("is embedded text by text, so that a question between them waits for one", async () => {
    let [running, most] = [0, 0];
    const provider = provided({
      embed: async () => {
        running += 1;
        most = Math.max(most, running);
        await new Promise((done) => setImmediate(done));
        running -= 1;
        return Float32Array.of(1);
      },
    });
    expect(await provider.embedBatch(["a", { text: "b" }, "c"])).toHaveLength(3);
    expect(most).toBe(1);
  });

  it("ends between two texts when OpenClaw no longer wants it", async () => {
    const stop = new AbortController();
    const texts: string[] = [];
    const provider = provided({
      embed: async (text) => {
        texts.push(text);
        stop.abort(new Error("no longer wanted"));
        return Float32Array.of(1);
      },
    });
    await expect(provider.embedBatch(["a", "b"], { signal: stop.signal })).rejects.toThrow(
      "no longer wanted",
    );
    expect(texts).toEqual(["a"]);
  });
});

describe("a text that is longer than the model reads", () => {
  const embedsUpTo = (length: number, fits = length): EmbedsText & { readonly texts: string[] } => {
    const texts: string[] = [];
    const embed = async (text: string) => {
      texts.push(text);
      if (text.length > length) throw new HelmdeckError("too_large", "Too long.", { details: { fits } });
      return Float32Array.of(1);
    };
    return { embed, texts };
  };

  it("is embedded by its beginning", async () => {
    const model = embedsUpTo(4);
    await provided(model).embed("abcdefgh");
    expect(model.texts).toEqual(["abcdefgh", "abcd"]);
  });

  it("is refused, not tried for ever, if the model says a length that does not fit", async () => {
    const model = embedsUpTo(0, 4);
    await expect(provided(model).embed("abcdefgh")).rejects.toThrow("Too long.");
    expect(model.texts).toHaveLength(2);
  });
});

describe("a question", () => {
  const question = { inputType: "query" } as const;

  it.each([
    [
      "fails",
      () => Promise.reject(new HelmdeckError("model_missing", "There is no model.ort.")),
      "There is no model.ort.",
    ],
    ["fails in a way of its own", () => Promise.reject(new Error("the text")), "the built-in model failed."],
    ["does not answer", () => new Promise<Float32Array>(() => undefined), "did not answer in time."],
  ])(
    "is searched by keywords, with the reason in the log, when the model %s",
    async (_how, embed, reason) => {
      const warnings: string[] = [];
      const log = { warn: (text: string) => void warnings.push(text) };
      const provider = makeNotesProvider("x", { embed }, log, { questionWithinMs: 20 });
      expect(new Set(await provider.embed("q", question))).toEqual(new Set([0]));
      expect(warnings).toEqual([expect.stringContaining(reason)]);
    },
  );

  it("is refused as a note's text: OpenClaw would keep a vector without meaning", async () => {
    const model = { embed: () => Promise.reject(new Error("broken")) };
    await expect(provided(model).embed("note", { inputType: "document" })).rejects.toThrow("broken");
    await expect(provided(model).embedBatch(["note"])).rejects.toThrow("broken");
  });
});

describe("the registration", () => {
  it("is the provider that the manifest declares, and falls back to keywords", async () => {
    const manifest = new URL("../../plugin/notes/openclaw.plugin.json", import.meta.url);
    const { id, contracts } = JSON.parse(await readFile(manifest, "utf8"));
    const { adapter } = await registered();
    expect([id, contracts]).toEqual([NOTES_PLUGIN_ID, { embeddingProviders: [NOTES_PROVIDER] }]);
    // OpenClaw searches by keywords only while a *local* provider fails; with another one it does not search.
    expect(adapter).toMatchObject({ id: NOTES_PROVIDER, transport: "local" });
  });

  it("ignores the model's name of a former provider", async () => {
    const { adapter } = await registered();
    const options = { config: {}, model: "nomic-embed-text" };
    expect(adapter?.normalizeModel?.(options)).toBe(NOTES_MODEL);
  });

  it("names the remedy if the model is not installed", async () => {
    const { adapter } = await registered();
    await expect(adapter?.create({ config: {}, model: NOTES_MODEL })).rejects.toThrow(/model install$/);
  });

  it("only warns on a host without embedding providers of plugins", async () => {
    const { warnings } = await registered({ registerEmbeddingProvider: undefined });
    expect(warnings).toEqual([expect.stringContaining("Upgrade OpenClaw")]);
  });
});

function provided(model: EmbedsText) {
  return makeNotesProvider("x", model, { warn: () => undefined });
}

async function registered(host: object = {}) {
  const stateFolder = await tempFolder();
  const adapters: Adapter[] = [];
  const warnings: string[] = [];
  const api = {
    runtime: { state: { resolveStateDir: () => stateFolder } },
    lifecycle: { onDispose: () => undefined },
    logger: { warn: (text: string) => warnings.push(text) },
    registerEmbeddingProvider: (adapter: Adapter) => adapters.push(adapter),
    ...host,
  };
  registerNotes(api as unknown as HostApi); // what the registration uses of it
  return { adapter: adapters[0], warnings };
}

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, place) => sum + value * (b[place] ?? 0), 0);
}
