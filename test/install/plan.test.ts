/** The planner: correct settings stay, the operator's own settings need a confirmation, and all missing requirements are listed at once. */
import { describe, expect, it } from "vitest";
import type { Facts, JournalFacts, OpenClawReady } from "../../install/installation-facts.ts";
import { makePlan } from "../../install/plan/make-plan.ts";
import { definitionOf } from "../../install/steps/registry.ts";
import {
  FACTS,
  INSTALLED,
  kinds,
  options,
  questions,
  SERVICE,
  withJournal,
  withOpenClaw,
  withSearch,
} from "./fixtures.ts";

const SEARCHES = { enabled: true, provider: undefined, model: undefined, baseUrl: undefined };
const URL = "http://10.0.0.5:11434";
const SIDECAR = "http://helmdeck-embeddings:11434";
const BUILTIN = ["--embeddings", "builtin"] as const;
const NO_DOCKER: Facts = { ...FACTS, docker: { state: "missing" } };
const OWN_OLLAMA = { url: URL, health: "ok", hasModel: true } as const;

describe.each([
  { about: "tools", setting: "auditTools", step: "audit-tools", yes: "all", no: "helmdeck" },
  { about: "speakUp", setting: "speakUp", step: "speak-up", yes: "on", no: "off" },
  { about: "keepAYear", setting: "keepAYear", step: "keep-a-year", yes: "on", no: "off" },
] as const)("the question about $about", ({ about, setting, step, yes, no }) => {
  const set = (answer: string | undefined, facts: Facts) =>
    withOpenClaw({ [setting]: answer } as Partial<OpenClawReady>, facts); // one of the two settings, with its values
  const unset = set(undefined, INSTALLED);
  const answered = (answer: string, isDue = false) =>
    withJournal({ [setting]: { answer, isSet: answer === yes, isDue } } as Partial<JournalFacts>, unset); // its record

  it("is asked once, and not if the setting exists; --yes answers only how long facts are kept", () => {
    expect(questions(unset)).toEqual([about]);
    expect(kinds(unset, "--yes").includes(step)).toBe(about === "keepAYear");
    for (const answer of [yes, no]) {
      expect(questions(answered(answer))).toEqual([]);
      expect(questions(set(answer, INSTALLED))).toEqual([]);
    }
  });

  it("has its answer applied once, completed after a kill, and undone by an uninstallation", () => {
    const done = set(yes, answered(yes));
    expect(kinds(done, ...(about === "tools" ? ["--audit-tools", yes] : []))).not.toContain(step);
    expect(kinds(answered(yes))).not.toContain(step);
    expect(kinds(answered(yes, true))).toContain(step);
    expect(kinds(withJournal({ configIsAsLeft: false }, done), "--uninstall")[0]).toBe(`restore-${step}`);
    expect(kinds(answered(no), "--uninstall")).not.toContain(`restore-${step}`);
  });
});

const IN_CONTAINER = withOpenClaw({
  target: { kind: "container", name: "claw" },
  memory: undefined,
  attachment: {
    isAttached: false,
    compose: {
      service: "openclaw-gateway",
      overrideFile: "/srv/docker-compose.override.yml",
      override: "absent",
      readsOverride: true,
      ownNetworks: ["default"],
    },
  },
});
const WITH_BUILTIN = withJournal(
  {
    ...{ installedModel: true, startedSidecar: false },
    ...{ facts: { embeddings: { provider: "builtin" } }, search: undefined },
  },
  withOpenClaw(
    { hasModel: true, facts: { provider: "builtin" }, search: SEARCHES },
    { ...INSTALLED, docker: NO_DOCKER.docker },
  ),
);
const WITH_NOTES = withJournal(
  { search: { search: { provider: "helmdeck-builtin" } }, installedNotes: true },
  withOpenClaw(
    { installedNotes: "same", search: { ...SEARCHES, provider: "helmdeck-builtin" } },
    WITH_BUILTIN,
  ),
);
const NEW_SERVICE = { ...INSTALLED, service: OWN_OLLAMA };
const DAMAGED = withOpenClaw({ hasModel: false }, WITH_BUILTIN);
const NOTES_DISABLED = withOpenClaw({ disabledPlugins: ["helmdeck-memory-notes"] }, WITH_NOTES);
const NOTES_GONE = withOpenClaw({ installedNotes: "absent" }, NOTES_DISABLED);

const MACHINES: Readonly<Record<string, Facts>> = {
  new: FACTS,
  installed: INSTALLED,
  "in a container": IN_CONTAINER,
  "search disabled": withSearch({ enabled: false }),
  "provider disabled": withOpenClaw({ disabledPlugins: ["ollama"] }),
  "own provider": withSearch({ provider: "openai" }),
  "no Docker": NO_DOCKER,
  "own Ollama, no Docker": { ...NO_DOCKER, service: OWN_OLLAMA },
  "own Ollama too": NEW_SERVICE,
  "sidecar by hand": withJournal({ startedSidecar: false }, NEW_SERVICE),
  "with the model": WITH_BUILTIN,
  "model damaged": DAMAGED,
  "damaged, unused": withOpenClaw({ facts: { provider: "none" } }, DAMAGED),
  "with notes": WITH_NOTES,
  "notes' plugin gone": NOTES_GONE,
  "notes disabled": NOTES_DISABLED,
  "notes, changed": withJournal({ configIsAsLeft: false }, WITH_NOTES),
  "notes and sidecar": { ...WITH_NOTES, service: INSTALLED.service },
};

/** The machine, the options and the steps. SEARCH and NEW stand for steps that stand together in most plans. */
const PLANS = `
new                   |                                                   | START make-key check-embedding NEW SEARCH prove
installed             |                                                   | check-embedding prove
in a container        |                                                   | START attach-container check-embedding check-from-container NEW SEARCH prove
installed             | --embedding-model bge-m3                          | check-embedding SEARCH prove
search disabled       |                                                   | START make-key check-embedding NEW point-facts prove
provider disabled     |                                                   | START make-key check-embedding NEW point-facts prove
own provider          | --yes                                             | START make-key check-embedding NEW point-facts prove
no Docker             | --no-embeddings                                   | make-key NEW point-facts prove
installed             | --no-embeddings                                   | point-facts restore-search index-notes stop-sidecar prove
own Ollama, no Docker | --embeddings-url http://10.0.0.5:11434/           | make-key check-embedding NEW SEARCH prove
own Ollama too        | --embeddings-url http://10.0.0.5:11434            | check-embedding SEARCH stop-sidecar prove
sidecar by hand       | --embeddings-url http://10.0.0.5:11434            | check-embedding SEARCH prove
installed             | --embeddings-url http://127.0.0.1:11434           | check-embedding prove
installed             | --embeddings-url http://localhost:11434           | check-embedding SEARCH prove
installed             | --embeddings-url http://helmdeck-embeddings:11434 | check-embedding SEARCH prove
no Docker             | --embeddings builtin                              | make-key NEW install-model point-facts prove
with the model        | --embeddings builtin                              | prove
model damaged         | --embeddings builtin                              | install-model prove
model damaged         | --repair                                          | install-model
damaged, unused       | --repair                                          |
installed             | --embeddings builtin                              | install-model point-facts restore-search index-notes stop-sidecar prove
no Docker             | --notes builtin                                   | make-key NEW install-model point-facts install-notes-plugin point-search index-notes prove
with notes            | --notes builtin                                   | prove
notes' plugin gone    | --notes builtin                                   | install-notes-plugin prove
notes disabled        | --notes builtin                                   | prove
with notes            | --embeddings builtin --notes none                 | restore-search index-notes uninstall-notes-plugin prove
notes and sidecar     | --embeddings-url http://127.0.0.1:11434           | check-embedding SEARCH uninstall-notes-plugin prove
notes, changed        | --uninstall                                       | restore-facts restore-search uninstall-notes-plugin uninstall-plugin index-notes remove-model forget-journal`
  .replaceAll("START", "create-network start-sidecar pull-model")
  .replaceAll("NEW", "back-up-config install-plugin")
  .replaceAll("SEARCH", "point-facts point-search index-notes");
const cells = (line: string) => line.split("|").map((cell) => cell.trim());

describe("the plan", () => {
  it.each(PLANS.trim().split("\n").map(cells))("%s %s: %s", (machine = "", args = "", steps = "") => {
    const facts = MACHINES[machine];
    expect(facts && kinds(facts, ...args.split(" ").filter(Boolean)).join(" ")).toBe(steps);
  });

  const VERIFY = ["--verify"];
  const NOTES_PROVIDER = expect.objectContaining({ provider: "helmdeck-builtin" });
  const tests = (facts: object | undefined) => ({ kind: "prove", facts });
  const THEIRS = { provider: "openai-compatible", url: "https://e.example/v1", model: "m" } as const;
  const MXBAI = { model: "mxbai-embed-large" };
  const FULL_NAME = { ...SERVICE, model: "nomic-embed-text:latest" };
  const UNSET = withOpenClaw({ facts: { provider: "unset" } }, WITH_BUILTIN);
  const OWN_SET = withJournal(
    { startedSidecar: false, facts: { embeddings: { ...SERVICE, url: URL } } },
    withOpenClaw({ facts: { ...SERVICE, url: URL } }, INSTALLED),
  );

  it.each<[string, Facts, readonly string[], ...object[]]>([
    [
      "gives OpenClaw in a container the sidecar's name",
      IN_CONTAINER,
      [],
      { kind: "point-search", baseUrl: SIDECAR },
      { kind: "point-facts", url: SIDECAR },
      { override: expect.objectContaining({ networks: ["default", "baas-net"] }) },
      { kind: "start-sidecar", files: ["compose.embeddings.yml"] },
    ],
    [
      "points at an existing Ollama",
      { ...NO_DOCKER, service: OWN_OLLAMA },
      ["--embeddings-url", `${URL}/`],
      { kind: "point-search", baseUrl: URL },
      { kind: "point-facts", url: URL },
    ],
    [
      "changes the model of its own earlier setting",
      INSTALLED,
      ["--embedding-model", MXBAI.model],
      { kind: "point-search", ...MXBAI },
      { kind: "point-facts", ...MXBAI },
    ],
    [
      "takes the model's full name as correct",
      withOpenClaw({ facts: FULL_NAME }, INSTALLED),
      [],
      tests(SERVICE),
    ],
    ["tests nothing without embeddings", INSTALLED, ["--no-embeddings"], tests(undefined)],
    ["verifies the service that somebody set", withOpenClaw({ facts: THEIRS }), VERIFY, tests(THEIRS)],
    [
      "verifies no service that is not set",
      withOpenClaw({ facts: { provider: "none" } }),
      VERIFY,
      tests(undefined),
    ],
    ["verifies a model that is used without a setting", UNSET, VERIFY, tests({ provider: "builtin" })],
    ["verifies no model that is gone", withOpenClaw({ hasModel: false }, UNSET), VERIFY, tests(undefined)],
    ["verifies the search with the model", WITH_NOTES, VERIFY, { kind: "prove", embeddings: NOTES_PROVIDER }],
    [
      "puts the built-in model into the state folder and tests it",
      NO_DOCKER,
      BUILTIN,
      { kind: "install-model", stateFolder: "/home/u", version: "0.1.0" },
      tests({ provider: "builtin" }),
    ],
    [
      "points OpenClaw's search at the built-in model and tests it",
      NO_DOCKER,
      ["--notes", "builtin"],
      { kind: "point-search", provider: "helmdeck-builtin", allow: [] },
      { kind: "prove", embeddings: NOTES_PROVIDER },
    ],
    [
      "keeps the address of an Ollama that stays, so that its vectors serve until there are new ones",
      OWN_SET,
      BUILTIN,
      { kind: "point-facts", provider: "builtin", former: { url: URL, model: SERVICE.model } },
    ],
  ])("%s", (_, facts, args, ...details) => {
    const { steps } = makePlan(facts, options(...args));
    for (const detail of details) expect(steps).toContainEqual(expect.objectContaining(detail));
  });

  it("does not keep the address of a sidecar that is stopped", () => {
    const { steps } = makePlan(INSTALLED, options(...BUILTIN));
    expect(steps.find(({ kind }) => kind === "point-facts")).not.toHaveProperty("former");
  });

  it.each([["auto"], ["none"], [undefined]])("replaces the provider %s without asking", (provider) => {
    const plan = makePlan(withSearch({ provider }), options());
    expect(plan.questions).toEqual([]);
    expect(plan.steps).toContainEqual(expect.objectContaining({ kind: "point-search", replaces: undefined }));
  });

  it("changes the model of its own earlier setting without asking", () => {
    expect(questions(INSTALLED, "--embedding-model", "mxbai-embed-large")).toEqual([]);
  });

  it.each([["openai"], ["ollama"], ["gemini"]])(
    "never replaces the operator's own %s without asking",
    (provider) => {
      const facts = withSearch({ provider, baseUrl: "http://elsewhere:11434" });
      const plan = makePlan(facts, options("--yes"));
      expect(plan.questions).toMatchObject([{ about: "search", text: expect.stringContaining(provider) }]);
      expect(plan.steps.map(({ kind }) => kind)).not.toContain("point-search");
      expect(plan.warnings.join()).toContain(`keeps its provider ${provider}`);
      expect(plan.steps.at(-1)).toMatchObject({ kind: "prove", embeddings: undefined });
      const agreed = makePlan(facts, { ...options(), replaces: ["search"] });
      expect(agreed.steps).toContainEqual(
        expect.objectContaining({ kind: "point-search", replaces: provider }),
      );
    },
  );

  it.each<[string, OpenClawReady["facts"]]>([
    ["another service", { provider: "openai-compatible", url: "https://e.example/v1", model: "m" }],
    ["another Ollama", { ...SERVICE, url: "http://10.0.0.5:11434" }],
    ["no embeddings", { provider: "none" }],
    ["an unusable setting", { provider: "unusable" }],
  ])("asks before it replaces what an operator set for helmdeck's facts: %s", (_, facts) => {
    const theirs = withOpenClaw({ facts });
    const plan = makePlan(theirs, options("--yes"));
    expect(plan.questions.map(({ about }) => about)).toEqual(["facts"]);
    expect(plan.steps.map(({ kind }) => kind)).not.toContain("point-facts");
    expect(plan.steps.at(-1)).toMatchObject({ kind: "prove", facts: undefined });
    expect(plan.warnings.join()).toContain("helmdeck's facts stay with");
    const agreed = makePlan(theirs, { ...options(), replaces: ["facts"] });
    expect(agreed.steps).toContainEqual(
      expect.objectContaining({ kind: "point-facts", replaces: expect.any(String) }),
    );
  });

  it("adds the provider's plugin to plugins.allow only if that list is set", () => {
    const allow = (facts: Facts) =>
      makePlan(facts, options()).steps.flatMap((step) => (step.kind === "point-search" ? step.allow : []));
    expect(allow(withOpenClaw({ allowedPlugins: ["memory-core"] }))).toEqual(["ollama"]);
    expect(allow(withOpenClaw({ allowedPlugins: ["ollama"] }))).toEqual([]);
    expect(allow(FACTS)).toEqual([]);
  });

  it("does not warn of OpenClaw's own notes where it leaves their search", () => {
    for (const left of [withSearch({ enabled: false }), withSearch({ provider: "openai" })])
      expect(makePlan(left, options("--yes")).warnings.join()).not.toContain("finds none of its own notes");
  });

  it.each<[string, string, Facts, Facts]>([
    [
      "the built-in model",
      "remove-model",
      WITH_BUILTIN,
      withJournal({ installedModel: false }, WITH_BUILTIN),
    ],
    [
      "the notes' plugin",
      "uninstall-notes-plugin",
      WITH_NOTES,
      withJournal({ installedNotes: false }, WITH_NOTES),
    ],
  ])("undoes %s only if the installer put it there", (_, step, ours, theirs) => {
    expect(kinds(ours, "--uninstall")).toContain(step);
    expect(kinds(theirs, "--uninstall")).not.toContain(step);
  });

  it("neither installs nor sets the built-in model if an engine elsewhere keeps memory", () => {
    const engine = ["--engine", "https://memory.example", "--token-file", "/t"];
    expect(kinds(NO_DOCKER, ...engine)).not.toContain("point-facts");
  });
});

// verifies P-notes-asked
describe("the built-in model for OpenClaw's own notes", () => {
  it("is a question, which --yes does not answer with yes", () => {
    expect(questions(WITH_BUILTIN, ...BUILTIN, "--yes")).toEqual(["notes"]);
    expect(kinds(WITH_BUILTIN, ...BUILTIN, "--yes")).toEqual(["prove"]);
  });

  it.each<[string, Facts, readonly string[]]>([
    ["an answer was given", WITH_BUILTIN, ["--notes", "none"]],
    ["the answer was yes", WITH_BUILTIN, ["--notes", "builtin"]],
    ["a service embeds them", INSTALLED, []],
    ["nothing is embedded", WITH_BUILTIN, ["--no-embeddings"]],
    ["its search is switched off", withSearch({ enabled: false }), BUILTIN],
    ["the operator chose a provider", withSearch({ provider: "openai" }), BUILTIN],
  ])("is not asked about if %s", (_, facts, args) => {
    expect(questions(facts, ...args)).not.toContain("notes");
  });

  it("names the way back, and a plugin that somebody disabled", () => {
    const warnings = (facts: Facts) => makePlan(facts, options("--notes", "builtin")).warnings.join();
    expect(warnings(NO_DOCKER)).toMatch(/disabled.*finds none of its own notes.*--notes none/);
    expect(warnings(NOTES_DISABLED)).toContain("is disabled");
  });

  it("never replaces the operator's own provider without asking", () => {
    const own = withOpenClaw({ search: { ...SEARCHES, provider: "openai" } }, WITH_BUILTIN);
    expect(questions(own, "--notes", "builtin")).toEqual(["search"]);
    expect(kinds(own, "--notes", "builtin", "--yes")).toEqual(["prove"]);
  });
});

describe("missing requirements", () => {
  const withDocker = (docker: Facts["docker"]): Facts => ({ ...FACTS, docker });
  const machine = (freeDiskBytes: number, memoryBytes: number, facts = FACTS): Facts => ({
    ...facts,
    machine: { freeDiskBytes, memoryBytes },
  });

  it("are all listed at once, each with a remedy, and nothing is planned", () => {
    const plan = makePlan({ ...NO_DOCKER, openclaw: { state: "missing" } }, options());
    expect(plan.unmet.map(({ what }) => what)).toEqual(["openclaw", "docker"]);
    expect(plan.unmet.every(({ remedy }) => remedy.length > 10)).toBe(true);
    expect(plan.unmet[0]?.remedy).toContain("npm install -g openclaw");
    expect(plan.unmet[1]?.remedy).toMatch(/--embeddings builtin.*--embeddings-url/);
    expect(plan.steps).toEqual([]);
  });

  it.each<[string, Facts, RegExp]>([
    ["an old OpenClaw", withOpenClaw({ version: "2026.7.35" }), /older than 2026\.8\.1/],
    ["a gateway on another machine", withOpenClaw({ gateway: "remote" }), /another machine/],
    ["disabled plugins", withOpenClaw({ disabledPlugins: ["*"] }), /plugins are disabled/],
    ["too little disk space", machine(5e9, 8e9), /of disk; 5\.0 GB are free/],
    ["too little memory", machine(50e9, 1e9), /of memory; this one has 1\.0/],
    ["no Docker Compose", withDocker({ state: "no_compose", engine: "20.10" }), /compose is not installed/],
    ["a Docker engine that is down", withDocker({ state: "unreachable" }), /does not answer/],
  ])("are reported: %s", (_, facts, message) => {
    const { unmet, steps } = makePlan(facts, options());
    expect(unmet.map((one) => one.message).join()).toMatch(message);
    expect(steps).toEqual([]);
  });

  it("include an OpenClaw that could not go back from the notes' built-in model, which is not offered there", () => {
    const older = withOpenClaw({ version: "2026.8.2" });
    const { unmet } = makePlan(older, options("--notes", "builtin"));
    expect(unmet.map(({ message, remedy }) => [message, remedy])).toEqual([
      [
        "OpenClaw 2026.8.2 could not go back from --notes builtin: only 2026.9.1 and later delete an index of notes.",
        "openclaw update, or --notes none",
      ],
    ]);
    expect(questions(older, ...BUILTIN)).not.toContain("notes");
    expect(questions(withOpenClaw({ version: "2026.9.1" }), ...BUILTIN)).toContain("notes");
  });

  it("do not include a newer OpenClaw, or disk space for an image that exists", () => {
    expect(makePlan(withOpenClaw({ version: "2026.10.1" }), options()).unmet).toEqual([]);
    expect(makePlan(machine(1e6, 8e9, INSTALLED), options()).unmet).toEqual([]);
  });

  it("include the choice of an OpenClaw if there are two", () => {
    const facts: Facts = { ...FACTS, openclaw: { state: "ambiguous", choices: ["host", "container:claw"] } };
    expect(makePlan(facts, options()).unmet[0]?.remedy).toContain("--openclaw host");
  });

  it("include the uninstallation of the first OpenClaw if another one is named", () => {
    const facts = withOpenClaw({ target: { kind: "container", name: "claw" } }, INSTALLED);
    expect(makePlan(facts, options()).unmet[0]?.message).toContain("host");
  });
});

describe("a running gateway that refuses this shell", () => {
  const lock = (problem: "missing" | "refused" | "locked_out") => ({
    variable: "OPENCLAW_GATEWAY_TOKEN",
    problem,
  });

  it.each<[string, OpenClawReady["gateway"], RegExp]>([
    ["without a token", lock("missing"), /export OPENCLAW_GATEWAY_TOKEN=/],
    ["with a wrong one", lock("refused"), /export OPENCLAW_GATEWAY_TOKEN=/],
    ["after too many wrong ones", lock("locked_out"), /Wait/],
    ["without an answer", "silent", /openclaw gateway status/],
  ])("ends the run before any change, and no second gateway is started: %s", (_, gateway, remedy) => {
    for (const args of [[], ["--no-embeddings"], ["--verify"]]) {
      const plan = makePlan(withOpenClaw({ gateway }), options(...args));
      expect(plan.unmet).toMatchObject([{ what: "gateway", remedy: expect.stringMatching(remedy) }]);
      expect(plan.steps).toEqual([]);
    }
    const uninstall = makePlan(withOpenClaw({ gateway }, INSTALLED), options("--uninstall"));
    expect([uninstall.steps, uninstall.unmet]).toMatchObject([[], [{ what: "gateway" }]]);
  });

  it("takes the token from the container's environment if it runs in a container", () => {
    const target = { kind: "container", name: "claw" } as const;
    const facts = withOpenClaw({ gateway: lock("missing"), target });
    const { unmet } = makePlan(facts, options("--no-embeddings"));
    expect(unmet[0]?.remedy).toMatch(/OPENCLAW_GATEWAY_TOKEN .* environment of the container claw/);
  });

  it("does not matter if the uninstallation changes nothing in OpenClaw", () => {
    const facts = withOpenClaw({ gateway: lock("missing"), installed: "absent" });
    const plan = makePlan(facts, options("--uninstall"));
    expect([plan.steps, plan.unmet]).toEqual([[], []]);
  });
});

describe("the command line", () => {
  it.each([
    [["--repair", "--uninstall"]],
    [["--repair", "--verify"]],
    [["--repair", "--purge"]],
    [["--no-embeddings", "--embeddings-url", "http://x:1"]],
    [["--embeddings", "--embeddings-url", "http://x:1"]],
    [["--embeddings-url", "http://user:secret@x:1"]],
    [["--embeddings-url", "ftp://x"]],
    [["--embedding-model", "a b"]],
    [["--openclaw", "container:"]],
    [["--purge"]],
    [["--gpu", "--no-embeddings"]],
    [["--gpu", "--embeddings", "builtin"]],
    [["--embeddings", "ollama"]],
    [["--engine", "https://e", "--token-file", "/t", "--embeddings", "builtin"]],
    [["--uninstall", "--verify"]],
    [["--unknown"]],
    [["extra"]],
  ])("refuses %j", (args) => expect(() => options(...args)).toThrow());

  it("has an exit code for each part of the installation", () => {
    expect(definitionOf({ kind: "pull-model" }).exitCode).toBe(3);
    expect(definitionOf({ kind: "install-plugin" }).exitCode).toBe(4);
    expect(definitionOf({ kind: "prove" }).exitCode).toBe(5);
  });
});
