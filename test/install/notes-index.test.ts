/** Detects unusable indexes of OpenClaw's notes in the output of `openclaw memory status --json` of 2026.9.6. */
import { describe, expect, it } from "vitest";
import { unfitIndexes } from "../../install/notes-index.ts";
import type { Json } from "../../install/openclaw-json.ts";

const of = (identity: string, vector: Json = {}) => ({
  agentId: "main",
  status: { vector, custom: { indexIdentity: { status: identity } } },
});
const WITH_VECTORS = { enabled: true, index: { state: "complete" }, dims: 768 };
const WITHOUT = { enabled: true, index: { state: "empty" } };
const OLLAMA = { memory: { search: { provider: "ollama" } } };

describe("an index of OpenClaw's notes", () => {
  it.each<[string, Json, Json | undefined, boolean | undefined]>([
    ["of words, where nobody chose a provider", of("mismatched", WITHOUT), {}, undefined],
    ["that is not made yet, where nobody chose", of("missing", WITHOUT), undefined, undefined],
    ["of the provider that is set", of("valid", WITH_VECTORS), OLLAMA, undefined],
    ["of an agent that searches no notes", { agentId: "main", status: null }, OLLAMA, undefined],
    ["of a provider that is gone", of("mismatched", WITH_VECTORS), {}, false],
    [
      "of a provider that is gone, where auto is set",
      of("mismatched", WITH_VECTORS),
      { memory: { search: { provider: "auto" } } },
      false,
    ],
    ["of another model than the one that is set", of("mismatched", WITH_VECTORS), OLLAMA, true],
    ["of words, where a provider is set", of("mismatched", WITHOUT), OLLAMA, true],
    [
      "of vectors, where somebody chose words",
      of("mismatched", WITH_VECTORS),
      { memory: { search: { provider: "none" } } },
      true,
    ],
    [
      "of an agent with a provider of its own",
      of("mismatched", WITH_VECTORS),
      { agents: { entries: { main: { memory: { search: { provider: "openai" } } } } } },
      true,
    ],
  ])("%s", (_, agent, config, isChosen) => {
    const unfit = isChosen === undefined ? [] : [{ agentId: "main", isChosen }];
    expect(unfitIndexes([agent], config)).toEqual(unfit);
  });

  it("cannot be told where OpenClaw does not say", () => {
    expect(unfitIndexes({ ok: false }, {})).toBeUndefined();
    expect(unfitIndexes(undefined, {})).toBeUndefined();
  });
});
