/** One run of the installer with a simulated machine: missing requirements, questions, the effect of a no, and the output. */
import { globSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runInstaller } from "../../install/installer.ts";
import { Journal } from "../../install/journal.ts";
import { JsonReporter, LineReporter } from "../../install/report.ts";
import type { Run } from "../../install/run-command.ts";
import { createOllamaSidecar } from "../../sidecar/ollama.ts";
import type { Report } from "../docker/rig.ts";
import { type StandInOllama, startStandInOllama } from "../sidecar/stand-in-ollama.ts";
import { environmentIn, given, options, testFolder } from "./fixtures.ts";

let folder: string;
/** Every command that was run. */
let ran: string[];
/** Null if OpenClaw does not accept its configuration. */
let search: unknown;
/** The programs that this machine has. */
let programs: Set<string>;
let ollamaHost: string;
/** The addresses at which an Ollama was looked for. */
let asked: string[];

beforeEach(() => {
  folder = testFolder();
  const contracts = {
    plugin: { tools: ["helmdeck__memory_store"] },
    "notes-plugin": { embeddingProviders: ["helmdeck-builtin"] },
  };
  for (const [name, brings] of Object.entries(contracts)) {
    mkdirSync(join(folder, "dist", name), { recursive: true });
    const manifest = JSON.stringify({ version: "1.2.3", contracts: brings });
    writeFileSync(join(folder, "dist", name, "openclaw.plugin.json"), manifest);
  }
  writeFileSync(
    join(folder, "compose.embeddings.yml"),
    `image: \${HELMDECK_EMBEDDINGS_IMAGE:-ollama/ollama:0.0.1}\n`,
  );
  writeFileSync(join(folder, "openclaw.json"), "{}");
  ran = [];
  search = undefined;
  programs = new Set(["openclaw", "docker"]);
  asked = [];
  ollamaHost = "127.0.0.1:9"; // nothing listens on the discard port
});

describe("without Docker", () => {
  beforeEach(() => void programs.delete("docker"));

  it("installs the built-in model, and says why", async () => {
    const { code, report } = await installJson(["--yes", "--dry-run"]);
    expect(code).toBe(0);
    const steps = "make-key back-up-config install-plugin install-model point-facts keep-a-year prove";
    expect(kinds(report).join(" ")).toBe(steps);
    expect(report.plan.at(-3)).toMatchObject({ provider: "builtin" });
    expect(report.plan.at(-1)).toMatchObject({ facts: { provider: "builtin" } });
    expect(report.warnings.join()).toMatch(/^Docker is not installed\. So the built-in model is used/);
  });

  it("asks what is to embed, in plain words with sizes, and does not offer the sidecar", async () => {
    const { asked, text } = await installLines([], (question) => question.includes("built in"));
    expect(asked[0]).toMatch(
      /^How should memory find facts.*\nbuilt in: .* 38 MB .*\nnone: search by keywords only$/,
    );
    expect(text).toMatch(/install the built-in model \(38 MB in .*claw\/helmdeck-memory-model\)/);
    expect(text).not.toContain("sidecar");
    expectNothingChanged();
  });

  it("asks whether OpenClaw's notes are embedded too, and a dry run of a yes shows what would be done", async () => {
    const yes = (question: string) => question.includes("built in") || question.includes("own notes");
    const { asked, text } = await installLines([], (question) => yes(question));
    expect(asked[1]).toMatch(
      /^Shall OpenClaw search its own notes by meaning, too\?.*finds none of its notes\.$/,
    );
    expect(text).toMatch(/install the plugin helmdeck-memory-notes 1\.2\.3 into OpenClaw/);
    expect(text).toContain("it brings: the embedding provider helmdeck-builtin");
    expect(text).toContain("point OpenClaw's memory.search at the built-in model");
    expect(text).toContain("rebuild OpenClaw's index of its notes");
    expect(text).toContain("To go back: install.sh --notes none");
    expectNothingChanged();
  });

  it("keeps the answer about notes, and asks no more", async () => {
    const choices = { embeddings: { kind: "builtin" }, model: "nomic-embed-text", gpu: false };
    for (const [notes, kept] of [
      ["none", ["--embeddings builtin"]],
      ["builtin", ["--embeddings builtin", "--notes builtin"]],
    ] as const) {
      writeJournal({ version: 1, target: { kind: "host" }, choices: { ...choices, notes } });
      const { report } = await installJson(["--yes", "--dry-run"]);
      expect(report.kept).toEqual(kept);
      const hasPlugin = report.plan.some(({ kind }) => kind === "install-notes-plugin");
      expect(hasPlugin).toBe(notes === "builtin");
      expect((await installLines([], () => false)).asked.join()).not.toContain("own notes");
    }
  });

  it("embeds nothing if keywords are chosen", async () => {
    const { text } = await installLines([], (question) => question.includes("none: "));
    expect(text).toContain("search helmdeck's facts by keywords only");
    expect(text).not.toContain("model");
  });

  it("ends if the sidecar was asked for, and offers the alternatives", async () => {
    const { code, report } = await installJson(["--embeddings", "sidecar", "--yes"]);
    expect(code).toBe(2);
    expect(report.missing[0]?.remedy).toMatch(/--embeddings builtin.*--embeddings-url URL/);
    expect(report.plan).toEqual([]);
    expectNothingChanged();
  });
});

describe("with the command docker, but no engine", () => {
  beforeEach(() => void programs.add("docker-without-engine"));

  const PLAN = ["let the built-in model find helmdeck's facts by meaning", "install the built-in model"];

  it("shows in a dry run what it would do now, nothing of Docker, and says why", async () => {
    const { code, text, asked } = await installLines(["--dry-run"], () => true);
    expect([code, asked]).toEqual([0, []]);
    expect(text).toContain("! Docker's engine does not answer. So the built-in model is used");
    for (const line of ["==> Plan", ...PLAN]) expect(text).toContain(line);
    expect(text).not.toMatch(/Plan once|start the sidecar/);
    expect(text.trimEnd()).toMatch(/Nothing was changed\.$/);
    const { report } = await installJson(["--dry-run"]);
    expect(kinds(report)).toContain("install-model");
    expect(kinds(report)).not.toContain("start-sidecar");
    expectNothingChanged();
  });

  it("shows the plan without Docker in a dry run if the sidecar was asked for, asks nothing, and says what is missing", async () => {
    const { code, text, asked } = await installLines(["--embeddings", "sidecar", "--dry-run"], () => true);
    expect([code, asked]).toEqual([2, []]);
    expect(text).toMatch(/! Docker's engine does not answer\.\n.*\n==> Plan without Docker/);
    for (const line of PLAN) expect(text).toContain(line);
    expect(text).not.toMatch(/Plan once|start the sidecar/);
    expectNothingChanged();
  });

  it("says why the sidecar cannot be chosen before it asks", async () => {
    const { text, asked } = await installLines([], () => false);
    expect(asked[0]).not.toContain("sidecar");
    expect(text).toMatch(/! Docker's engine does not answer\. So the sidecar.*cannot be chosen now/);
  });
});

describe("with Docker", () => {
  it("offers the sidecar first, and installs the built-in model if that is chosen", async () => {
    const { asked, text } = await installLines([], (question) => question.includes("built in"));
    expect(asked[0]).toMatch(/\nsidecar: Ollama in Docker; downloads several GB.*\nbuilt in: .*\nnone: /);
    expect(text).toContain("let the built-in model find helmdeck's facts by meaning");
    expect(text).not.toContain("sidecar");
    const { report } = await installJson(["--yes", "--dry-run"]);
    expect(kinds(report)).toContain("start-sidecar");
    expect(kinds(report)).not.toContain("install-model");
  });

  it("asks nothing that an option answers", async () => {
    for (const args of [["--embeddings", "builtin"], ["--embeddings", "none"], ["--embeddings"]])
      expect((await installLines(args, () => false)).asked.join()).not.toContain("How should memory find");
  });
});

describe("without Docker, but with an Ollama on this machine", () => {
  let standIn: StandInOllama;
  let port: string;

  beforeEach(async () => {
    programs.delete("docker");
    standIn = await startStandInOllama({ models: [] });
    ({ port } = new URL(standIn.address));
    ollamaHost = `127.0.0.1:${port}`;
  });
  afterEach(() => standIn.close());

  it("offers that Ollama too, and uses it if it is chosen", async () => {
    const { text, asked } = await installLines([], (question) => question.includes("your Ollama"));
    expect(asked[0]).toContain(
      `\nyour Ollama at ${standIn.address} (it downloads the model nomic-embed-text`,
    );
    expect(text).toContain("download the model nomic-embed-text (0.3 GB)");
    expect(text).toContain(`let nomic-embed-text on ${standIn.address} find`);
    expect(text).not.toContain("sidecar");
  });

  it("does not use it with --yes or without a terminal, and names the option that would", async () => {
    const { report } = await installJson(["--yes", "--dry-run"]);
    expect(kinds(report)).not.toContain("pull-model");
    expect(report.warnings.join()).toContain(`--embeddings-url ${standIn.address}`);
    expect(standIn.requests.map(({ path }) => path)).not.toContain("/api/pull");
  });

  it.each(["0.0.0.0:PORT", ":PORT", "http://localhost:PORT", "[::]:PORT"])(
    "finds it if OLLAMA_HOST is %s",
    async (host) => {
      ollamaHost = host.replace("PORT", port);
      expect((await installJson(["--dry-run"])).report.warnings.join()).toMatch(
        new RegExp(`--embeddings-url \\S+:${port}`),
      );
    },
  );

  it.each(["ollama.example:11434", "http://192.0.2.1:11434", "https://127.0.0.1:1", "//", "127.0.0.1:9"])(
    "queries loopback addresses only, and finds no Ollama if none answers: %s",
    async (host) => {
      ollamaHost = host;
      expect((await installJson(["--dry-run"])).report.warnings.join()).not.toContain("--embeddings-url");
      expect(asked.filter((address) => !address.startsWith("http://127.0.0.1:"))).toEqual([]);
    },
  );
});

describe("without OpenClaw", () => {
  it("names the command that installs it, and does not run it", async () => {
    programs.delete("openclaw");
    const { code, report } = await installJson(["--yes"]);
    expect(code).toBe(2);
    expect(report.missing.find(({ what }) => what === "openclaw")?.remedy).toContain(
      "npm install -g openclaw",
    );
    expect(ran.some((command) => command.startsWith("npm"))).toBe(false);
  });
});

describe("questions", () => {
  it("shows the plan before the question, and changes nothing after a no", async () => {
    const { code, text, asked } = await installLines(["--no-embeddings"], () => false);
    expect(asked.at(-1)).toBe("Continue?");
    expect(text).toMatch(
      /==> Plan\n {2}1\. create the memory's key.*\n[\s\S]*it brings: helmdeck__memory_store/,
    );
    expect(code).toBe(1);
    expectNothingChanged();
  });

  it("asks separately about recording all tools, and records them only after a yes", async () => {
    const yes = await installLines(["--no-embeddings"], (question) =>
      question.includes("did you do yesterday"),
    );
    expect(yes.asked).toEqual([
      expect.stringMatching(/^Record the calls of all tools/),
      expect.stringMatching(/^Let memory speak up [^.?]*\.entries[^?]*autoRecall off;[^?]*\?$/),
      expect.stringMatching(/^Keep facts for a year\?/),
      "Continue?",
    ]);
    expect(yes.text).toMatch(
      /3\. install the plugin.*\n {2}4\. search helmdeck's facts by keywords only.*\n {2}5\. record the calls of all tools/,
    );
    const no = await installLines(["--no-embeddings"], () => false);
    expect(no.text).toContain("record only the calls of helmdeck's own tools");
    const silent = await installJson(["--yes", "--dry-run"]);
    expect(kinds(silent.report)).not.toContain("audit-tools");
    expectNothingChanged();
  });

  it("takes the answer from --audit-tools if it cannot ask", async () => {
    const { report } = await installJson(["--yes", "--dry-run", "--audit-tools", "all"]);
    expect(report.plan.find(({ kind }) => kind === "audit-tools")).toMatchObject({ answer: "all" });
    expect(() => options("--audit-tools", "some")).toThrow("all, helmdeck");
    expect(() => options("--uninstall", "--audit-tools", "all")).toThrow("is only for an installation");
  });

  it("requires --yes if it cannot ask", async () => {
    const { code, report } = await installJson(["--no-embeddings"]);
    expect(code).toBe(1);
    expect(report.warnings.join()).toContain("pass --yes");
    expectNothingChanged();
  });

  it("replaces the operator's own provider only after a yes", async () => {
    search = { provider: "openai" };
    const no = await installLines(["--embeddings"], () => false);
    expect(no.asked[0]).toContain("your own provider openai");
    expect(no.text).toContain("keeps its provider openai");
    const yes = await installLines(["--embeddings"], (question) => question.includes("openai"));
    expect(yes.text).toContain("instead of openai");
    const silent = await installJson(["--yes", "--dry-run"]);
    expect(kinds(silent.report)).not.toContain("point-search");
    expect(silent.report.warnings.join()).toContain("keeps its provider openai");
    expectNothingChanged();
  });
});

describe("what an operator set for helmdeck's facts", () => {
  const OWN = { provider: "openai-compatible" };
  it.each<[string, object]>([
    ["openai-compatible at https://e.example/v1", { ...OWN, url: "https://e.example/v1/", model: "m" }],
    ["ollama at http://helmdeck-embeddings:11434", { model: "bge-m3" }],
    ["keyword search (provider none)", { provider: "none" }],
    ["an unusable service", OWN],
    ["an unusable service", { url: "http://x:1", apiKey: { source: "env", provider: "p", id: "i" } }],
  ])("is replaced only after a yes: %s", async (name, embeddings) => {
    configure(embeddings);
    const no = await installLines(["--embeddings"], () => false);
    expect(no.asked[0]).toContain(`helmdeck's facts are set to ${name}.`);
    expect(no.text).toContain(`helmdeck's facts stay with ${name}`);
    const yes = await installLines(["--embeddings"], (question) => question.includes("facts are set"));
    expect(yes.text).toMatch(/let nomic-embed-text on \S+ find helmdeck's facts by meaning, instead of /);
    const silent = await installJson(["--yes", "--dry-run"]);
    expect(kinds(silent.report)).not.toContain("point-facts");
    expectNothingChanged();
  });

  it("causes no question if it is unset, and no change if it is already correct", async () => {
    configure({});
    expect((await installLines([], () => false)).asked.join()).not.toContain("are set to");
    const planned = await installJson(["--yes", "--dry-run"]);
    const step = planned.report.plan.find(({ kind }) => kind === "point-facts");
    const url = step !== undefined && "url" in step ? step.url : undefined;
    configure({ url });
    const { report } = await installJson(["--yes", "--dry-run"]);
    expect(kinds(report)).not.toContain("point-facts");
    expect(report.plan.at(-1)).toMatchObject({
      facts: { provider: "ollama", url, model: "nomic-embed-text" },
    });
  });
});

// verifies P-install-kept
describe("a second run", () => {
  const earlier = (embeddings: object) =>
    writeJournal({
      ...{ version: 1, target: { kind: "host" }, installedPlugin: true },
      choices: { embeddings, model: "nomic-embed-text", gpu: false },
    });

  it("starts no sidecar if the first one had none, and says so in the plan", async () => {
    earlier({ kind: "none" });
    const { text } = await installLines(["--dry-run"], () => true);
    expect(text).toContain("Kept from the last installation: --no-embeddings (");
    expect(text).toContain("A small model is built in now: install.sh --embeddings builtin");
    expect(text).not.toContain("sidecar");
    const { report } = await installJson(["--yes", "--dry-run"]);
    expect(report.kept).toEqual(["--no-embeddings"]);
    expect(kinds(report)).not.toContain("start-sidecar");
    expect(kinds((await installJson(["--embeddings", "--dry-run"])).report)).toContain("start-sidecar");
  });

  it("keeps the options of a run that failed", async () => {
    expect((await installJson(["--embeddings", "--embedding-model", "bge-m3", "--yes"])).code).toBe(3);
    const { report } = await installJson(["--dry-run"]);
    expect(report.kept).toEqual(["--embedding-model bge-m3"]);
    expect(report.plan).toContainEqual(expect.objectContaining({ kind: "pull-model", model: "bge-m3" }));
    expect(kinds((await installJson(["--uninstall", "--dry-run"])).report)).toContain("forget-journal");
  });

  it("lists the kept options also if a requirement is missing", async () => {
    earlier({ kind: "url", url: "http://127.0.0.1:9" });
    const { code, text } = await installLines(["--yes"], () => true);
    expect(code).toBe(2);
    expect(text).toMatch(
      /Kept from the last installation: --embeddings-url http:\/\/127\.0\.0\.1:9 .*\n! No Ollama answers.*\n.*--embeddings builtin/,
    );
  });

  it("keeps the built-in model where Docker can be used, and embeds nothing only if that is said", async () => {
    earlier({ kind: "builtin" });
    const { report } = await installJson(["--yes", "--dry-run"]);
    expect(report.kept).toEqual(["--embeddings builtin"]);
    expect(kinds(report)).toContain("install-model");
    expect(kinds(report)).not.toContain("start-sidecar");
    const none = await installJson(["--no-embeddings", "--yes", "--dry-run"]);
    expect(none.report.plan).toContainEqual(
      expect.objectContaining({ kind: "point-facts", provider: "none" }),
    );
  });

  it("keeps the sidecar if Docker is down, unless a person chooses something else", async () => {
    programs.delete("docker");
    earlier({ kind: "sidecar" });
    const { code, report } = await installJson(["--yes"]);
    expect([code, report.plan]).toEqual([2, []]);
    expect(report.missing[0]?.remedy).toContain("--embeddings builtin");
    const person = await installLines([], (question) => question.includes("built in"));
    expect(person.text).toContain("! Docker is not installed.");
    expect(person.text).toContain("let the built-in model find helmdeck's facts by meaning");
  });

  it.each(["none", "builtin"])(
    "warns that a model's name changes nothing without a service: %s",
    async (kind) => {
      earlier({ kind });
      const { report } = await installJson(["--embedding-model", "bge-m3", "--dry-run"]);
      expect(report.warnings.join()).toContain("--embedding-model is for a service");
    },
  );
});

describe("a journal of version 0.1", () => {
  it("is undone completely", async () => {
    const sets = [
      { search: { provider: "ollama", model: "m", remote: { baseUrl: "http://127.0.0.1:11434" } } },
    ];
    const journal = {
      ...{ version: 1, target: { kind: "host" }, search: { sets, allowed: ["ollama"] } },
      facts: { before: {}, sets: [{ embeddings: { provider: "ollama" } }] },
      ...{ config: { path: join(folder, "openclaw.json"), existed: true }, leftAs: "changed by others" },
      ...{ installedPlugin: true, madeNetwork: true, startedSidecar: true },
      attached: { container: "claw", overrideFile: "/srv/docker-compose.override.yml" },
    };
    writeJournal(journal);
    const { report } = await installJson(["--uninstall", "--dry-run"]);
    const steps = ["restore-facts", "restore-search", "uninstall-plugin", "index-notes", "detach-container"];
    expect(kinds(report)).toEqual([...steps, "stop-sidecar", "remove-network", "forget-journal"]);
  });
});

describe("inspecting a machine", () => {
  const commands = () => ran.filter((command) => command.startsWith("openclaw")).sort();

  it("runs only four of OpenClaw's commands, which take one to three seconds each, if nothing of ours is installed", async () => {
    await installJson(["--no-embeddings", "--dry-run"]);
    expect(commands()).toEqual([
      "openclaw --version",
      "openclaw config file",
      "openclaw config get memory.search --json",
      "openclaw gateway call health --timeout 20000 --json",
    ]);
  });

  it.each(["state/helmdeck-memory/install.lock", "claw/helmdeck-memory.key"])(
    "queries the index of the notes if %s shows an earlier installation",
    async (trace) => {
      mkdirSync(join(folder, trace), { recursive: true });
      await installJson(["--no-embeddings", "--dry-run"]);
      expect(commands()).toContain("openclaw memory status --json");
    },
  );

  it("shows why OpenClaw rejects its configuration", async () => {
    search = null;
    const { code, report } = await installJson(["--dry-run"]);
    expect(code).toBe(2);
    expect(report.missing[0]).toMatchObject({
      message:
        'OpenClaw reports an invalid configuration: OpenClaw config is invalid: x (Unrecognized key: "y")',
      remedy: "openclaw doctor",
    });
  });
});

describe("the output", () => {
  it("has no control characters outside a terminal, and colours on a terminal unless they are turned off", async () => {
    const plain = await installLines(["--no-embeddings", "--dry-run"], () => true);
    expect(plain.text).not.toContain("\x1b");
    const coloured = await installLines(["--no-embeddings", "--dry-run"], () => true, { isTTY: true });
    expect(coloured.text).toMatch(COLOUR);
    const out = { isTTY: true, noColor: true };
    const unwanted = await installLines(["--no-embeddings", "--dry-run"], () => true, out);
    // Escapes that redraw a line are allowed, colours are not.
    expect(unwanted.text).not.toMatch(COLOUR);
  });

  it("states the image's size before the download, and the option that avoids it", async () => {
    const { text } = await installLines(["--dry-run"], () => true);
    expect(text).toMatch(
      /start the sidecar, Ollama in Docker \(downloads .*several GB.*9 GB on disk.*--embeddings builtin/,
    );
  });

  it("ends with the result", async () => {
    const { text } = await installLines(["--no-embeddings", "--dry-run"], () => true);
    expect(text.trimEnd().split("\n").at(-1)).toBe("This was the plan. Nothing was changed.");
    const nothing = await installLines(["--uninstall"], () => true);
    expect(nothing.text).toContain("✓ Nothing to do.");
  });
});

const kinds = ({ plan }: Report) => plan.map(({ kind }) => kind);

async function installJson(args: readonly string[]) {
  let text = "";
  const reporter = new JsonReporter({ write: (more) => (text += more) });
  const code = await runInstaller(await environment(), given(...args), reporter, undefined);
  return { code, report: JSON.parse(text) as Report };
}

async function installLines(
  args: readonly string[],
  answer: (question: string) => boolean,
  { isTTY = false, noColor = false } = {},
) {
  let text = "";
  const asked: string[] = [];
  const reporter = new LineReporter(
    { isTTY, write: (more: string) => (text += more) },
    noColor ? { NO_COLOR: "1" } : {},
  );
  const code = await runInstaller(await environment(), given(...args), reporter, {
    agrees: async (question) => {
      asked.push(question);
      return answer(question);
    },
    chooses: async (question, answers) => {
      asked.push([question, ...answers].join("\n"));
      return Math.max(0, answers.findIndex(answer));
    },
  });
  return { code, text, asked };
}

const environment = async () =>
  environmentIn(folder, machine, {
    env: { HOME: folder, OLLAMA_HOST: ollamaHost, OPENCLAW_STATE_DIR: join(folder, "claw") },
    journal: await Journal.read(journalFolder()),
    sidecarAt: (address) => {
      asked.push(address);
      return createOllamaSidecar({ address });
    },
  });
const journalFolder = () => join(folder, "state", "helmdeck-memory", "install");

function writeJournal(journal: object): void {
  mkdirSync(journalFolder(), { recursive: true });
  writeFileSync(join(journalFolder(), "journal.json"), JSON.stringify(journal));
}

function configure(embeddings: object): void {
  const entries = { "helmdeck-memory": { config: { embeddings } } };
  writeFileSync(join(folder, "openclaw.json"), JSON.stringify({ plugins: { entries } }));
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: matches terminal escapes
const COLOUR = /\x1b\[\d*m/;

/** The message of OpenClaw 2026.8.1 and 2026.9.6. */
const INVALID = JSON.stringify({
  ok: false,
  error: { type: "cli_error", message: "OpenClaw config is invalid: x" },
  issues: [{ path: "<root>", message: 'Unrecognized key: "y"' }],
});

/** Simulated programs that answer queries. A call that would change something is recorded, and fails. */
const machine: Run = async (file, args) => {
  const command = [file, ...args].join(" ");
  ran.push(command);
  const answers: readonly [RegExp, string][] = [
    [/^openclaw --version/, "OpenClaw 2026.9.6"],
    [/^openclaw config file/, join(folder, "openclaw.json")],
    [/^openclaw config get memory\.search/, JSON.stringify(search ?? {})],
    [/^openclaw memory status/, "[]"],
    [/^openclaw gateway call health/, '{"ok": true}'],
    [/^docker version/, "20.10.24"],
    [/^docker compose version/, "2.30.0"],
    [/^docker ps/, ""],
  ];
  if (search === null && command.startsWith("openclaw config get"))
    return { exitCode: 1, stdout: INVALID, stderr: "" };
  if (file === "docker" && programs.has("docker-without-engine"))
    return { exitCode: 1, stdout: "", stderr: "" };
  const answer = programs.has(file) ? answers.find(([pattern]) => pattern.test(command)) : undefined;
  const exitCode = answer !== undefined ? 0 : programs.has(file) ? 1 : undefined;
  return { exitCode, stdout: answer?.[1] ?? "", stderr: "" };
};

function expectNothingChanged(): void {
  expect(globSync(join(journalFolder(), "**"))).toEqual([]);
  expect(ran.filter((command) => /install|patch| create | up |^npm/.test(command))).toEqual([]);
}
