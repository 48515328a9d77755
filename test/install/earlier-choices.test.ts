/** What a later run takes over from the last installation, from this version's record and from that of version 0.1.0. */
import { describe, expect, it } from "vitest";
import { withEarlierChoices, withEarlierVariables } from "../../install/earlier-choices.ts";
import type { JournalEntries } from "../../install/journal.ts";
import { makePlan } from "../../install/plan/make-plan.ts";
import { FACTS, given, INSTALLED, withJournal, withOpenClaw } from "./fixtures.ts";

const MODEL = "nomic-embed-text";
const OWN = "http://127.0.0.1:11434";
const NONE = { embeddings: { kind: "none" }, model: MODEL, gpu: false, variables: {} } as const;
const SIDECAR = { ...NONE, embeddings: { kind: "sidecar" } } as const;
const URL = { ...NONE, embeddings: { kind: "url", url: OWN } } as const;

const chosen = (entries: JournalEntries, ...args: string[]) =>
  withEarlierChoices(given(...args), entries, withEarlierVariables({}, entries));
const kept = (entries: JournalEntries, ...args: string[]) => chosen(entries, ...args).kept;

// verifies P-install-kept
describe("a later run", () => {
  it("without options keeps each choice of the last installation, and lists them", () => {
    expect(chosen({ choices: NONE })).toMatchObject(NONE);
    expect(kept({ choices: NONE })).toEqual(["--no-embeddings"]);
    expect(chosen({ choices: URL })).toMatchObject(URL);
    expect(kept({ choices: URL })).toEqual([`--embeddings-url ${OWN}`]);
    const tuned = { ...SIDECAR, model: "mxbai-embed-large", gpu: true };
    expect(chosen({ choices: tuned })).toMatchObject(tuned);
    expect(kept({ choices: tuned })).toEqual(["--embedding-model mxbai-embed-large", "--gpu"]);
    const target = { kind: "container", name: "claw" } as const;
    expect(kept({ choices: SIDECAR, target })).toEqual(["--openclaw container:claw"]);
  });

  it("lists nothing if every choice is the default", () => {
    expect(chosen({ choices: SIDECAR })).toMatchObject({ ...SIDECAR, kept: [] });
    expect(chosen({})).toMatchObject({ ...SIDECAR, kept: [] });
  });

  it.each([
    [NONE, ["--embeddings"], SIDECAR],
    [NONE, ["--embeddings-url", OWN], URL],
    [NONE, ["--gpu"], { ...SIDECAR, gpu: true }],
    [URL, ["--embeddings"], SIDECAR],
    [URL, ["--no-embeddings"], NONE],
    [{ ...SIDECAR, gpu: true }, ["--no-gpu"], SIDECAR],
    [{ ...URL, model: "bge-m3" }, ["--embedding-model", MODEL], URL],
    [SIDECAR, ["--engine", "https://memory.example", "--token-file", "/h/t"], NONE],
  ] as const)("with an option uses that option: after %j, %j", (choices, args, wanted) => {
    const options = chosen({ choices }, ...args);
    expect(options).toMatchObject(wanted);
    expect(options.kept.filter((option) => option.startsWith(args[0]))).toEqual([]);
  });

  it("keeps the other choices when one changes", () => {
    const choices = { ...URL, model: "bge-m3" };
    const other = "http://10.0.0.5:11434";
    const options = chosen({ choices }, "--embeddings-url", other);
    expect(options).toMatchObject({ embeddings: { kind: "url", url: other }, model: "bge-m3" });
    expect(options.kept).toEqual(["--embedding-model bge-m3"]);
  });

  it("keeps the sidecar's variables, which a set or empty variable replaces", () => {
    const variables = {
      HELMDECK_EMBEDDINGS_IMAGE: "mirror.example/ollama:1",
      HELMDECK_EMBEDDINGS_MEMORY: "4g",
    };
    const choices = { ...SIDECAR, variables };
    expect(chosen({ choices })).toMatchObject({ variables });
    expect(kept({ choices })).toEqual([
      "HELMDECK_EMBEDDINGS_IMAGE=mirror.example/ollama:1",
      "HELMDECK_EMBEDDINGS_MEMORY=4g",
    ]);
    const env = { HELMDECK_EMBEDDINGS_IMAGE: "", HELMDECK_EMBEDDINGS_MEMORY: "6g" };
    const replaced = withEarlierVariables(env, { choices });
    expect(replaced).toEqual(env);
    expect(withEarlierChoices(given(), { choices }, replaced)).toMatchObject({
      variables: { HELMDECK_EMBEDDINGS_MEMORY: "6g" },
      kept: [],
    });
    expect(kept({ choices }, "--no-embeddings")).toEqual([]);
    expect(chosen({ choices }, "--no-embeddings")).toMatchObject({ variables });
  });

  it("takes over no choice if it installs nothing", () => {
    for (const mode of ["--verify", "--repair", "--uninstall"])
      expect(kept({ choices: NONE }, mode)).toEqual([]);
  });

  it("also lists the engine and the recording of tools, which stay in OpenClaw's configuration", () => {
    const engine = { url: "https://memory.example", tokens: { main: "/h/t" }, fingerprint256: "ab" };
    const facts = withJournal(
      { source: { source: { kind: "engine" } }, auditTools: { answer: "all", isSet: true, isDue: false } },
      withOpenClaw({ engine, auditTools: "all" }, INSTALLED),
    );
    const planned = (...args: string[]) => makePlan(facts, chosen({ choices: NONE }, ...args)).kept;
    const engineOptions = [
      "--engine https://memory.example",
      "--token-file main=/h/t",
      "--engine-fingerprint ab",
    ];
    expect(planned()).toEqual(["--no-embeddings", ...engineOptions, "--audit-tools all"]);
    expect(planned("--audit-tools", "helmdeck")).toEqual(["--no-embeddings", ...engineOptions]);
    const elsewhere = ["--engine", "https://other.example", "--token-file", "/h/t"];
    expect(planned(...elsewhere)).toEqual(["--audit-tools all"]);
    const byHand = withOpenClaw({ engine, auditTools: "all" }, FACTS);
    expect(makePlan(byHand, chosen({})).kept).toEqual([]);
  });
});

// verifies P-install-kept
describe("the record of version 0.1.0", () => {
  const set = (url: string, model = MODEL): JournalEntries => ({
    installedPlugin: true,
    facts: {
      sets: [
        { embeddings: { provider: "ollama", url: "http://first:1", model: "first" } },
        { embeddings: { provider: "ollama", url, model } },
      ],
    },
  });

  it.each<[string, JournalEntries, object]>([
    ["empty", {}, { ...SIDECAR, isEmbeddingOpen: true }],
    ["keyword search", { installedPlugin: true }, NONE],
    ["a sidecar", { ...set(OWN), startedSidecar: true }, SIDECAR],
    ["a sidecar for a container", set("http://helmdeck-embeddings:11434"), SIDECAR],
    ["a run that was killed before it set anything", { startedSidecar: true }, SIDECAR],
    ["the operator's own Ollama", set(OWN), URL],
    ["another model", set(OWN, "bge-m3"), { ...URL, model: "bge-m3" }],
    [
      "an Ollama on another machine after a sidecar",
      { ...set("http://10.0.0.5:11434"), startedSidecar: true },
      { embeddings: { kind: "url", url: "http://10.0.0.5:11434" } },
    ],
    [
      "OpenClaw's own search only",
      {
        installedPlugin: true,
        search: { sets: [{ search: { model: "bge-m3", remote: { baseUrl: OWN } } }], allowed: [] },
      },
      { ...URL, model: "bge-m3" },
    ],
  ])("is read: %s", (_, entries, wanted) => expect(chosen(entries)).toMatchObject(wanted));
});
