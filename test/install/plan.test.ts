/** The planner: correct settings stay, the operator's own settings need a confirmation, and all missing requirements are listed at once. */
import { describe, expect, it } from "vitest";
import type { Facts, OpenClawReady } from "../../install/installation-facts.ts";
import { makePlan } from "../../install/plan/make-plan.ts";
import { definitionOf } from "../../install/steps/registry.ts";
import { FACTS, INSTALLED, options, SERVICE, withJournal, withOpenClaw, withSearch } from "./fixtures.ts";

const kinds = (facts: Facts, ...args: string[]) =>
  makePlan(facts, options(...args)).steps.map(({ kind }) => kind);

const SEARCHES = { enabled: true, provider: undefined, model: undefined, baseUrl: undefined };

describe("the question about other tools", () => {
  const NEW = withOpenClaw({ auditTools: undefined }, INSTALLED);
  const about = (facts: Facts) => makePlan(facts, options()).questions.map((question) => question.about);
  const answered = (answer: "all" | "helmdeck", isDue = false) =>
    withJournal({ auditTools: { answer, isSet: answer === "all", isDue } }, NEW);

  it("is asked once: not after an answer, and not if the setting exists", () => {
    expect(about(NEW)).toEqual(["tools"]);
    for (const answer of ["all", "helmdeck"] as const) expect(about(answered(answer))).toEqual([]);
    expect(about(withOpenClaw({ auditTools: "helmdeck" }, INSTALLED))).toEqual([]);
  });

  it("has its answer applied once, completed after a kill, and undone by an uninstallation", () => {
    const done = withOpenClaw({ auditTools: "all" }, answered("all"));
    expect(kinds(done, "--audit-tools", "all")).not.toContain("audit-tools");
    expect(kinds(answered("all", true))).toContain("audit-tools");
    const changed = withJournal({ configIsAsLeft: false }, done);
    expect(kinds(changed, "--uninstall")[0]).toBe("restore-audit-tools");
    expect(kinds(answered("helmdeck"), "--uninstall")).not.toContain("restore-audit-tools");
  });
});

describe("the question whether memory speaks up", () => {
  const NEW = withOpenClaw({ speakUp: undefined }, INSTALLED);
  const about = (facts: Facts) => makePlan(facts, options()).questions.map((question) => question.about);
  const answered = (answer: "on" | "off", isDue = false) =>
    withJournal({ speakUp: { answer, isSet: answer === "on", isDue } }, NEW);

  it("is asked once: not after an answer, and not if somebody chose", () => {
    expect(about(NEW)).toEqual(["speakUp"]);
    for (const answer of ["on", "off"] as const) {
      expect(about(answered(answer))).toEqual([]);
      expect(about(withOpenClaw({ speakUp: answer }, INSTALLED))).toEqual([]);
    }
  });

  it("is never answered by --yes", () => {
    expect(kinds(NEW, "--yes")).not.toContain("speak-up");
  });

  it("has its answer completed after a kill, and undone by an uninstallation", () => {
    expect(kinds(answered("on", true))).toContain("speak-up");
    expect(kinds(answered("on"))).not.toContain("speak-up");
    const changed = withJournal({ configIsAsLeft: false }, answered("on"));
    expect(kinds(changed, "--uninstall")).toContain("restore-speak-up");
    expect(kinds(answered("off"), "--uninstall")).not.toContain("restore-speak-up");
  });
});

describe("an installation", () => {
  it("points OpenClaw and helmdeck's facts at the sidecar only after a successful embedding, and ends with the smoke test", () => {
    const steps = kinds(FACTS);
    expect(steps.indexOf("check-embedding")).toBeGreaterThan(steps.indexOf("pull-model"));
    expect(steps.indexOf("point-search")).toBeGreaterThan(steps.indexOf("check-embedding"));
    expect(steps.indexOf("point-facts")).toBeGreaterThan(steps.indexOf("check-embedding"));
    expect(steps.indexOf("point-facts")).toBeGreaterThan(steps.indexOf("install-plugin"));
    expect(steps.indexOf("back-up-config")).toBeLessThan(steps.indexOf("install-plugin"));
    expect(steps.at(-1)).toBe("prove");
  });

  it("changes nothing if everything is correct", () => {
    expect(kinds(INSTALLED)).toEqual(["check-embedding", "prove"]);
  });

  it.each([["auto"], ["none"], [undefined]])("replaces the provider %s without asking", (provider) => {
    const plan = makePlan(withSearch({ provider }), options());
    expect(plan.questions).toEqual([]);
    expect(plan.steps).toContainEqual(expect.objectContaining({ kind: "point-search", replaces: undefined }));
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

  it("changes the model of its own earlier setting without asking", () => {
    const plan = makePlan(INSTALLED, options("--embedding-model", "mxbai-embed-large"));
    expect(plan.questions).toEqual([]);
    for (const kind of ["point-search", "point-facts"])
      expect(plan.steps).toContainEqual(expect.objectContaining({ kind, model: "mxbai-embed-large" }));
  });

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

  it("accepts the model's full name in helmdeck's settings as correct", () => {
    const facts = withOpenClaw({ facts: { ...SERVICE, model: "nomic-embed-text:latest" } }, INSTALLED);
    expect(makePlan(facts, options()).steps.map(({ kind }) => kind)).toEqual(["check-embedding", "prove"]);
    expect(makePlan(facts, options()).steps.at(-1)).toMatchObject({ facts: SERVICE });
  });

  it("embeds helmdeck's facts also if it does not change OpenClaw's own search", () => {
    for (const left of [withSearch({ enabled: false }), withSearch({ provider: "openai" })]) {
      expect(kinds(left, "--yes")).toContain("point-facts");
      expect(kinds(left, "--yes")).not.toContain("point-search");
      expect(makePlan(left, options("--yes")).warnings.join()).not.toContain("finds none of its own notes");
    }
  });

  it("--verify tests semantic search in helmdeck's facts with the service that is set, whoever set it", () => {
    const theirs = { provider: "openai-compatible", url: "https://e.example/v1", model: "m" } as const;
    const smokeTest = (facts: OpenClawReady["facts"]) =>
      makePlan(withOpenClaw({ facts }), options("--verify")).steps.at(-1);
    expect(smokeTest(theirs)).toMatchObject({ kind: "prove", facts: theirs });
    expect(smokeTest({ provider: "none" })).toMatchObject({ kind: "prove", facts: undefined });
  });

  it("adds the provider's plugin to plugins.allow only if that list is set", () => {
    const allow = (facts: Facts) =>
      makePlan(facts, options()).steps.flatMap((step) => (step.kind === "point-search" ? step.allow : []));
    expect(allow(withOpenClaw({ allowedPlugins: ["memory-core"] }))).toEqual(["ollama"]);
    expect(allow(withOpenClaw({ allowedPlugins: ["ollama"] }))).toEqual([]);
    expect(allow(FACTS)).toEqual([]);
  });

  it("does not change a search that is disabled, or a search with a disabled provider plugin", () => {
    expect(kinds(withSearch({ enabled: false }))).not.toContain("point-search");
    expect(kinds(withOpenClaw({ disabledPlugins: ["ollama"] }))).not.toContain("point-search");
  });

  it("needs no Docker without embeddings, and removes earlier embedding settings before it stops the sidecar", () => {
    const steps = kinds({ ...FACTS, docker: { state: "missing" } }, "--no-embeddings");
    expect(steps).toEqual(["make-key", "back-up-config", "install-plugin", "point-facts", "prove"]);
    const back = kinds(INSTALLED, "--no-embeddings");
    expect(back).toEqual(["point-facts", "restore-search", "index-notes", "stop-sidecar", "prove"]);
    expect(makePlan(INSTALLED, options("--no-embeddings")).steps.at(-1)).toMatchObject({ facts: undefined });
  });

  it("uses an existing Ollama without Docker", () => {
    const facts: Facts = {
      ...FACTS,
      docker: { state: "missing" },
      service: { url: "http://10.0.0.5:11434", health: "ok", hasModel: true },
    };
    const plan = makePlan(facts, options("--embeddings-url", "http://10.0.0.5:11434/"));
    expect(plan.unmet).toEqual([]);
    expect(plan.steps).toContainEqual(
      expect.objectContaining({ kind: "point-search", baseUrl: "http://10.0.0.5:11434" }),
    );
    expect(plan.steps).toContainEqual(
      expect.objectContaining({ kind: "point-facts", url: "http://10.0.0.5:11434" }),
    );
  });

  it("stops its own sidecar if another service replaces it, after the last setting that names it", () => {
    const facts: Facts = {
      ...withJournal({ startedSidecar: true }),
      service: { url: "http://10.0.0.5:11434", health: "ok", hasModel: true },
    };
    const steps = kinds(facts, "--embeddings-url", "http://10.0.0.5:11434");
    expect(steps).toContain("stop-sidecar");
    expect(steps.indexOf("stop-sidecar")).toBeGreaterThan(steps.indexOf("point-search"));
    const others = { ...facts, journal: { ...facts.journal, startedSidecar: false } };
    expect(kinds(others, "--embeddings-url", "http://10.0.0.5:11434")).not.toContain("stop-sidecar");
  });

  it.each(["http://127.0.0.1:11434", "http://localhost:11434", "http://helmdeck-embeddings:11434"])(
    "does not stop the sidecar if %s names it",
    (url) => {
      const facts = withJournal({ startedSidecar: true });
      expect(kinds(facts, "--embeddings-url", url)).not.toContain("stop-sidecar");
    },
  );

  it("gives OpenClaw in a container the sidecar's name, after a check from inside the container", () => {
    const facts = withOpenClaw({
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
    const { steps } = makePlan(facts, options());
    const order = steps.map(({ kind }) => kind);
    expect(order.indexOf("attach-container")).toBeLessThan(order.indexOf("check-from-container"));
    expect(order.indexOf("check-from-container")).toBeLessThan(order.indexOf("point-search"));
    expect(steps).toContainEqual(
      expect.objectContaining({ kind: "point-search", baseUrl: "http://helmdeck-embeddings:11434" }),
    );
    expect(steps).toContainEqual(
      expect.objectContaining({ kind: "point-facts", url: "http://helmdeck-embeddings:11434" }),
    );
    expect(order.indexOf("check-from-container")).toBeLessThan(order.indexOf("point-facts"));
    expect(steps).toContainEqual(
      expect.objectContaining({ override: expect.objectContaining({ networks: ["default", "baas-net"] }) }),
    );
    expect(steps).toContainEqual(
      expect.objectContaining({ kind: "start-sidecar", files: ["compose.embeddings.yml"] }),
    );
  });
});

describe("the built-in model", () => {
  const none: Facts = { ...FACTS, docker: { state: "missing" } };
  const built = withJournal(
    {
      installedModel: true,
      facts: { embeddings: { provider: "builtin" } },
      search: undefined,
      startedSidecar: false,
    },
    withOpenClaw(
      { hasModel: true, facts: { provider: "builtin" }, search: SEARCHES },
      { ...INSTALLED, docker: none.docker },
    ),
  );

  it("is put in its place after the plugin and before the setting that names it", () => {
    const { steps } = makePlan(none, options("--embeddings", "builtin"));
    expect(steps.map(({ kind }) => kind)).toEqual([
      ...["make-key", "back-up-config", "install-plugin", "install-model", "point-facts", "prove"],
    ]);
    expect(steps).toContainEqual({ kind: "install-model", stateFolder: "/home/u", version: "0.1.0" });
    expect(steps.at(-1)).toMatchObject({ kind: "prove", facts: { provider: "builtin" } });
  });

  it("changes nothing the second time, and is repaired if a file is missing or changed", () => {
    expect(kinds(built, "--embeddings", "builtin")).toEqual(["prove"]);
    const damaged = withOpenClaw({ hasModel: false }, built);
    expect(kinds(damaged, "--embeddings", "builtin")).toContain("install-model");
    expect(kinds(damaged, "--repair")).toEqual(["install-model"]);
    expect(kinds(withOpenClaw({ facts: { provider: "none" } }, damaged), "--repair")).toEqual([]);
  });

  it("replaces the sidecar of an earlier run, which is stopped last", () => {
    expect(kinds(INSTALLED, "--embeddings", "builtin")).toEqual([
      ...["install-model", "point-facts", "restore-search", "index-notes", "stop-sidecar", "prove"],
    ]);
  });

  // verifies P-notes-asked
  describe("for OpenClaw's own notes", () => {
    const BUILTIN = ["--embeddings", "builtin"] as const;
    const pointed = withJournal(
      { search: { search: { provider: "helmdeck-builtin" } }, installedNotes: true },
      withOpenClaw(
        {
          installedNotes: "same",
          search: { enabled: true, provider: "helmdeck-builtin", model: undefined, baseUrl: undefined },
        },
        built,
      ),
    );
    const about = (facts: Facts, ...args: string[]) =>
      makePlan(facts, options(...args)).questions.map((question) => question.about);

    it("is a question, which --yes does not answer with yes", () => {
      expect(about(built, ...BUILTIN, "--yes")).toEqual(["notes"]);
      expect(kinds(built, ...BUILTIN, "--yes")).toEqual(["prove"]);
    });

    it.each<[string, Facts, readonly string[]]>([
      ["an answer was given", built, ["--notes", "none"]],
      ["the answer was yes", built, ["--notes", "builtin"]],
      ["a service embeds them", INSTALLED, []],
      ["nothing is embedded", built, ["--no-embeddings"]],
      ["its search is switched off", withSearch({ enabled: false }), BUILTIN],
      ["the operator chose a provider", withSearch({ provider: "openai" }), BUILTIN],
    ])("is not asked about if %s", (_, facts, args) => {
      expect(about(facts, ...args)).not.toContain("notes");
    });

    it("is set up after the model and the plugin are there, and is tested", () => {
      const plan = makePlan(none, options("--notes", "builtin"));
      expect(plan.steps.map(({ kind }) => kind)).toEqual([
        ...["make-key", "back-up-config", "install-plugin", "install-model", "point-facts"],
        ...["install-notes-plugin", "point-search", "index-notes", "prove"],
      ]);
      expect(plan.steps).toContainEqual(
        expect.objectContaining({ kind: "point-search", provider: "helmdeck-builtin", allow: [] }),
      );
      expect(plan.steps.at(-1)).toMatchObject({ embeddings: { provider: "helmdeck-builtin" } });
      expect(plan.warnings.join()).toMatch(/disabled.*finds none of its own notes.*--notes none/);
    });

    it("changes nothing the second time, and is verified", () => {
      expect(kinds(pointed, "--notes", "builtin")).toEqual(["prove"]);
      const verified = makePlan(pointed, options("--verify")).steps.at(-1);
      expect(verified).toMatchObject({ embeddings: { provider: "helmdeck-builtin" } });
    });

    it("never replaces the operator's own provider without asking", () => {
      const own = withOpenClaw({ search: { ...SEARCHES, provider: "openai" } }, built);
      expect(about(own, "--notes", "builtin")).toEqual(["search"]);
      expect(kinds(own, "--notes", "builtin", "--yes")).toEqual(["prove"]);
    });

    it("is taken back before its plugin goes: by --notes none, by a service, and by --uninstall", () => {
      const last = ["index-notes", "uninstall-notes-plugin", "prove"];
      expect(kinds(pointed, ...BUILTIN, "--notes", "none")).toEqual(["restore-search", ...last]);
      const url = kinds({ ...pointed, service: INSTALLED.service }, "--embeddings-url", SERVICE.url);
      expect(url.slice(-4)).toEqual(["point-search", ...last]);
      const changed = withJournal({ configIsAsLeft: false }, pointed);
      expect(kinds(changed, "--uninstall")).toEqual([
        ...["restore-facts", "restore-search", "uninstall-notes-plugin", "uninstall-plugin"],
        ...["index-notes", "remove-model", "forget-journal"],
      ]);
    });

    it("is repaired after OpenClaw's own uninstallation of the plugin, but a plugin that somebody disabled stays so", () => {
      const gone = withOpenClaw(
        { installedNotes: "absent", disabledPlugins: ["helmdeck-memory-notes"] },
        pointed,
      );
      expect(kinds(gone, "--notes", "builtin")).toEqual(["install-notes-plugin", "prove"]);
      const disabled = withOpenClaw({ disabledPlugins: ["helmdeck-memory-notes"] }, pointed);
      const plan = makePlan(disabled, options("--notes", "builtin"));
      expect([plan.steps.length, plan.warnings.join()]).toEqual([1, expect.stringContaining("is disabled")]);
    });

    it("leaves a plugin that somebody installed by hand", () => {
      const theirs = withJournal({ installedNotes: false }, pointed);
      expect(kinds(theirs, "--uninstall")).not.toContain("uninstall-notes-plugin");
    });
  });

  it("keeps the address of an Ollama that stays, so that its vectors serve until there are new ones", () => {
    const url = "http://10.0.0.5:11434";
    const own = withJournal(
      { startedSidecar: false, facts: { embeddings: { ...SERVICE, url } } },
      withOpenClaw({ facts: { ...SERVICE, url } }, INSTALLED),
    );
    const plan = makePlan(own, options("--embeddings", "builtin"));
    expect(plan.steps).toContainEqual(
      expect.objectContaining({
        kind: "point-facts",
        provider: "builtin",
        former: { url, model: SERVICE.model },
      }),
    );
    const sidecar = makePlan(INSTALLED, options("--embeddings", "builtin")).steps;
    expect(sidecar.find(({ kind }) => kind === "point-facts")).not.toHaveProperty("former");
  });

  it("is deleted by an uninstallation only if the installer put it there", () => {
    expect(kinds(built, "--uninstall")).toContain("remove-model");
    const theirs = withJournal({ installedModel: false }, built);
    expect(kinds(theirs, "--uninstall")).not.toContain("remove-model");
  });

  it("is tested by --verify also where it is used without a setting", () => {
    const unset = withOpenClaw({ facts: { provider: "unset" } }, built);
    expect(makePlan(unset, options("--verify")).steps.at(-1)).toMatchObject({
      facts: { provider: "builtin" },
    });
    const gone = withOpenClaw({ hasModel: false }, unset);
    expect(makePlan(gone, options("--verify")).steps.at(-1)).toMatchObject({ facts: undefined });
  });

  it("is neither installed nor set if an engine elsewhere keeps memory", () => {
    const engine = ["--engine", "https://memory.example", "--token-file", "/t"];
    expect(kinds(none, ...engine)).not.toContain("point-facts");
  });
});

describe("missing requirements", () => {
  it("are all listed at once, each with a remedy, and nothing is planned", () => {
    const facts: Facts = { ...FACTS, docker: { state: "missing" }, openclaw: { state: "missing" } };
    const plan = makePlan(facts, options());
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
    [
      "too little disk space",
      { ...FACTS, machine: { freeDiskBytes: 5e9, memoryBytes: 8e9 } },
      /of disk; 5\.0 GB are free/,
    ],
    [
      "too little memory",
      { ...FACTS, machine: { freeDiskBytes: 50e9, memoryBytes: 1e9 } },
      /of memory; this one has 1\.0/,
    ],
    [
      "no Docker Compose",
      { ...FACTS, docker: { state: "no_compose", engine: "20.10" } },
      /compose is not installed/,
    ],
    ["a Docker engine that is down", { ...FACTS, docker: { state: "unreachable" } }, /does not answer/],
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
    const asked = (facts: Facts) =>
      makePlan(facts, options("--embeddings", "builtin")).questions.map(({ about }) => about);
    expect(asked(older)).not.toContain("notes");
    expect(asked(withOpenClaw({ version: "2026.9.1" }))).toContain("notes");
  });

  it("do not include a newer OpenClaw, or disk space for an image that exists", () => {
    expect(makePlan(withOpenClaw({ version: "2026.10.1" }), options()).unmet).toEqual([]);
    expect(
      makePlan({ ...INSTALLED, machine: { freeDiskBytes: 1e6, memoryBytes: 8e9 } }, options()).unmet,
    ).toEqual([]);
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
    const { unmet } = makePlan(
      withOpenClaw({ gateway: lock("missing"), target }),
      options("--no-embeddings"),
    );
    expect(unmet[0]?.remedy).toMatch(/OPENCLAW_GATEWAY_TOKEN .* environment of the container claw/);
  });

  it("does not matter if the uninstallation changes nothing in OpenClaw", () => {
    const plan = makePlan(
      withOpenClaw({ gateway: lock("missing"), installed: "absent" }),
      options("--uninstall"),
    );
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
