/** Detects unusable indexes of OpenClaw's notes in the output of `openclaw memory status --json` of 2026.9.6. */
import { describe, expect, it } from "vitest";
import { indexedNotes, unfitIndexes } from "../../install/notes-index.ts";
import type { Json } from "../../install/openclaw-json.ts";

const WITH_VECTORS = { enabled: true, index: { state: "complete" }, dims: 768 };
const WITHOUT = { enabled: true, index: { state: "empty" } };
const of = (identity: string, vector: Json = {}, reason = "index scope changed") => ({
  agentId: "main",
  status: { vector, custom: { indexIdentity: { status: identity, reason } } },
});
const builtFor = (what: string, vector: Json = WITHOUT) =>
  of("mismatched", vector, `index was built for ${what}, expected text-embedding-3-small`);
const searchBy = (provider: string) => ({ memory: { search: { provider } } });
const OLLAMA = searchBy("ollama");
const AGENTS_OWN = { agents: { entries: { main: searchBy("openai") } } };

describe("an index of OpenClaw's notes", () => {
  it.each<[string, Json, Json | undefined, boolean | undefined]>([
    ["without vectors, if no provider is set", of("mismatched", WITHOUT), {}, undefined],
    ["for keyword search, if no provider is set", builtFor("model fts-only"), {}, undefined],
    ["for keyword search, if the default's model is unknown", builtFor("provider none"), {}, undefined],
    ["without notes by a removed provider", builtFor("model nomic-embed-text"), {}, false],
    ["without notes by a removed provider, if models are unknown", builtFor("provider ollama"), {}, false],
    ["missing, if no provider is set", of("missing", WITHOUT), undefined, undefined],
    ["by the provider that is set", of("valid", WITH_VECTORS), OLLAMA, undefined],
    ["of an agent without search in its notes", { agentId: "main", status: null }, OLLAMA, undefined],
    ["by a removed provider", builtFor("model nomic-embed-text", WITH_VECTORS), {}, false],
    ["with vectors, if OpenClaw does not say whose", of("mismatched", WITH_VECTORS), {}, false],
    ["by a removed provider, if auto is set", of("mismatched", WITH_VECTORS), searchBy("auto"), false],
    ["by another model than the one that is set", of("mismatched", WITH_VECTORS), OLLAMA, true],
    ["without vectors, if a provider is set", of("mismatched", WITHOUT), OLLAMA, true],
    ["with vectors, if the provider is none", of("mismatched", WITH_VECTORS), searchBy("none"), true],
    ["of an agent that has its own provider", of("mismatched", WITH_VECTORS), AGENTS_OWN, true],
  ])("%s", (_, agent, config, isChosen) => {
    const unfit = isChosen === undefined ? [] : [{ agentId: "main", isChosen }];
    expect(unfitIndexes([agent], config)).toEqual(unfit);
  });

  it("is unknown if OpenClaw's answer does not say", () => {
    expect(unfitIndexes({ ok: false }, {})).toBeUndefined();
    expect(unfitIndexes(undefined, {})).toBeUndefined();
  });

  it("has as many notes as OpenClaw counts, of all agents", () => {
    const agents = [{ status: { files: 2 } }, { status: { files: 1 } }, { status: null }];
    expect([indexedNotes(agents), indexedNotes({ ok: false })]).toEqual([3, undefined]);
  });
});
