/** Without a store, or without `memory` on the pack, an engine behaves as if memory did not exist. */
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { safeParseAsync } from "zod/v4/core";
import { asHelmdeckError, HelmdeckError } from "../../../engine/errors.ts";
import type { MemoryStore } from "../../../engine/store/memory-store.ts";
import type { ArtifactRef, Pack, PackContext, PackRequest } from "../../../packs/engine/pack-contract.ts";
import { createPackEngine } from "../../../packs/engine/pack-engine.ts";
import { ask, openPackRig, overridden, type PackRig, packThat } from "./rig.ts";

const FILE = { name: "a.txt", mediaType: "text/plain", content: Buffer.from("a") };

/** Packs of every kind without memory, which cover their access, effects, artifacts and errors. */
const packs: readonly Pack[] = [
  pack("echo", async (_, input) => input),
  pack("strict", async () => ({ text: "a", more: 1 }), { output: z.object({ text: z.string() }) }),
  pack("sees", async (ec) => [Object.keys(ec).sort(), "memory" in ec, "callerMemory" in ec, ec.caller]),
  pack("makes", async (ec) => (await ec.artifacts.put(FILE)).name),
  pack("works", async (ec) => (await ec.session?.run(process.execPath, ["-p", "1 + 1"]))?.stdout, {
    session: true,
    startsProcess: true,
  }),
  pack("fails", () => Promise.reject(new HelmdeckError("pack_failed", "No such branch."))),
  pack("breaks", () => Promise.reject(new TypeError("s3cret"))),
  pack("lies", async () => 7, { output: z.string() }),
  pack("picky", async () => 7, { input: z.object({ n: z.number() }) }),
];

const inputs = [{}, { n: 1 }, { a: { b: [1, "two", null] } }, "a text", null];

describe("runs of packs without memory", () => {
  test("answer byte for byte as an engine without the memory layer, and the store gets their audit rows only", async () => {
    const calls: string[] = [];
    const packRig = await openPackRig(packs, {}, (store) => spied(store, calls));
    for (const { name } of packs) {
      for (const input of [...inputs, ...inputs]) {
        const request = ask(name, input);
        expect(await told(packRig.engine.run(request))).toBe(await told(plainRun(packRig, request)));
      }
    }
    expect(calls).toEqual([]);
    expect(await packRig.rows()).toHaveLength(2 * packs.length * inputs.length);
  });
});

describe("without a store", () => {
  test("packs that ask for memory answer byte for byte as packs that do not", async () => {
    const asking = packs.map((plain) => ({ ...plain, memory: { ttlSeconds: 60, ...cacheFor(plain) } }));
    const packRig = await openPackRig(packs);
    const { sessions, artifacts, clock } = packRig;
    const parts = { sessions, artifacts, now: clock.now, monotonicMs: clock.now, timer: packRig.timer.timer };
    const engine = createPackEngine({ packs: asking, ...parts });
    for (const { name } of packs) {
      for (const input of [...inputs, ...inputs]) {
        expect(await told(engine.run(ask(name, input)))).toBe(
          await told(plainRun(packRig, ask(name, input))),
        );
      }
    }
    expect(await packRig.rows()).toEqual([]);
  });
});

describe("with a store, a pack that asks for memory", () => {
  test("gets it, so that the tests above could see a difference", async () => {
    const calls: string[] = [];
    const asking = pack("notes", async (ec) => [await ec.memory?.list(), "callerMemory" in ec], {
      memory: {},
    });
    const { engine } = await openPackRig([asking], {}, (store) => spied(store, calls));
    expect((await engine.run(ask("notes"))).output).toEqual([[], true]);
    expect(calls).toEqual(["list"]);
  });
});

function pack(name: string, run: Pack["run"], more: Partial<Pack> = {}): Pack {
  return packThat(run, { name, ...more });
}

/** Packs with a session must not cache. */
function cacheFor({ session }: Pack): { readonly cache?: true } {
  return session === true ? {} : { cache: true };
}

/** The reference: the behaviour of an engine without memory, audit or caches. */
async function plainRun({ sessions, artifacts, clock }: PackRig, { pack: name, input, caller }: PackRequest) {
  const found = packs.find((candidate) => candidate.name === name);
  if (found === undefined) throw new Error("no such pack");
  const refs: ArtifactRef[] = [];
  const signal = new AbortController().signal;
  const { data, success } = await safeParseAsync(found.input, input);
  if (!success) throw new HelmdeckError("invalid_input", "refused");
  const session = found.session && (await sessions.acquire({ caller, pack: name, signal }));
  const put: PackContext["artifacts"]["put"] = async (artifact) => {
    const ref = await artifacts.put(caller, artifact);
    refs.push(ref);
    return ref;
  };
  const progress = () => {};
  const ec = { caller, signal, now: clock.now, artifacts: { put }, ...(session && { session }), progress };
  try {
    const output = await safeParseAsync(found.output, await found.run(ec, data));
    if (!output.success) throw new HelmdeckError("invalid_output", "refused");
    return {
      pack: name,
      version: found.version,
      output: output.data,
      artifacts: refs,
      durationMs: 0,
      ...(session && { sessionId: session.id }),
      cached: false,
    };
  } finally {
    if (session) await sessions.release(session);
  }
}

/** Everything that a caller gets, as bytes. Random ids become "id", and error messages are left out. */
async function told(run: Promise<unknown>): Promise<string> {
  const answer = await run.catch((error: unknown) => {
    const { code, message } = asHelmdeckError(error);
    return { code, ...(code === "pack_failed" && { message }) };
  });
  return JSON.stringify(answer).replaceAll(/"(id|sessionId)":"[^"]+"/g, '"$1":"id"');
}

/** Records every call of a method. The audit row goes directly to memory's own store. */
function spied(store: MemoryStore, calls: string[]): MemoryStore {
  return new Proxy(store, {
    get: (target, name) => {
      if (typeof Reflect.get(target, name) === "function") calls.push(String(name));
      return Reflect.get(overridden(target, {}), name);
    },
  });
}
