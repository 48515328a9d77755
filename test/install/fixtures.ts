/** Shared fixtures of the installer's tests: facts of a machine before and after an installation, and runs of steps with simulated programs. */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { withEarlierChoices } from "../../install/earlier-choices.ts";
import type { Environment } from "../../install/environment.ts";
import { execute } from "../../install/execute.ts";
import type {
  DockerReady,
  Facts,
  JournalFacts,
  OpenClawReady,
  Target,
} from "../../install/installation-facts.ts";
import { Journal } from "../../install/journal.ts";
import { type GivenOptions, type Options, parseOptions } from "../../install/options.ts";
import { makePlan } from "../../install/plan/make-plan.ts";
import { JsonReporter } from "../../install/report.ts";
import type { Run } from "../../install/run-command.ts";
import { Docker } from "../../install/run-docker.ts";
import { OpenClaw } from "../../install/run-openclaw.ts";
import type { Step } from "../../install/steps/registry.ts";

export const SERVICE = {
  provider: "ollama",
  url: "http://127.0.0.1:11434",
  model: "nomic-embed-text",
} as const;

const OPENCLAW: OpenClawReady = {
  state: "ready",
  target: { kind: "host" },
  version: "2026.9.6",
  configPath: "/home/u/.openclaw/openclaw.json",
  hasConfigFile: true,
  gateway: "running",
  search: { enabled: true, provider: undefined, model: undefined, baseUrl: undefined },
  facts: { provider: "unset" },
  engine: undefined,
  hasModel: false,
  auditTools: "helmdeck",
  speakUp: "off",
  keepAYear: "on",
  seesConversations: false,
  allowedPlugins: undefined,
  disabledPlugins: [],
  agentsWithProvider: [],
  unfitIndexes: undefined,
  installed: "absent",
  installedNotes: "absent",
  attachment: undefined,
  memory: { databasePath: "/home/u/m.sqlite", keyPath: "/home/u/m.key", key: "none", isThere: false },
};

const DOCKER: DockerReady = {
  state: "ready",
  engine: "20.10",
  compose: "docker-compose",
  hasNetwork: false,
  image: "ollama/ollama:0.0.1",
  hasImage: false,
  sidecar: { state: "absent", isHealthy: false, isAsWanted: false, port: 11434 },
};

const JOURNAL: JournalFacts = {
  hasChoices: false,
  target: undefined,
  search: undefined,
  facts: undefined,
  source: undefined,
  auditTools: undefined,
  speakUp: undefined,
  keepAYear: undefined,
  indexDue: false,
  hasConfigCopy: false,
  configIsAsLeft: false,
  madeNetwork: false,
  installedPlugin: false,
  installedNotes: false,
  installedModel: false,
  attached: undefined,
  startedSidecar: false,
};

/** A machine with Docker and OpenClaw, without our plugin. */
export const FACTS: Facts = {
  machine: { freeDiskBytes: 50e9, memoryBytes: 8e9 },
  docker: DOCKER,
  ollama: undefined,
  openclaw: OPENCLAW,
  service: { url: undefined, health: { reason: "it does not run yet" }, hasModel: false },
  plugin: { version: "0.1.0", capabilities: [] },
  notesPlugin: { version: "0.1.0", capabilities: ["the embedding provider helmdeck-builtin"] },
  journal: JOURNAL,
};

/** The same machine after an installation. */
export const INSTALLED: Facts = {
  ...FACTS,
  docker: {
    ...DOCKER,
    hasNetwork: true,
    hasImage: true,
    sidecar: { state: "running", isHealthy: true, isAsWanted: true, port: 11434 },
  },
  openclaw: {
    ...OPENCLAW,
    installed: "same",
    search: { enabled: true, provider: "ollama", model: SERVICE.model, baseUrl: SERVICE.url },
    facts: SERVICE,
    memory: { databasePath: "/home/u/m.sqlite", keyPath: "/home/u/m.key", key: "file", isThere: true },
  },
  service: { url: SERVICE.url, health: "ok", hasModel: true },
  journal: {
    ...JOURNAL,
    target: { kind: "host" },
    search: { search: { provider: "ollama", model: SERVICE.model, remote: { baseUrl: SERVICE.url } } },
    facts: { embeddings: SERVICE },
    hasConfigCopy: true,
    configIsAsLeft: true,
    installedPlugin: true,
    startedSidecar: true,
    madeNetwork: true,
  },
};

/** These facts with changes to OpenClaw. */
export function withOpenClaw(changes: Partial<OpenClawReady>, facts = FACTS): Facts {
  return { ...facts, openclaw: { ...readyOpenClaw(facts), ...changes } };
}

export function withSearch(changes: Partial<OpenClawReady["search"]>): Facts {
  return withOpenClaw({ search: { ...OPENCLAW.search, ...changes } });
}

/** An installation with changes to the journal. */
export function withJournal(changes: Partial<JournalFacts>, facts = INSTALLED): Facts {
  return { ...facts, journal: { ...facts.journal, ...changes } };
}

function readyOpenClaw({ openclaw }: Facts): OpenClawReady {
  if (openclaw.state !== "ready") throw new Error("these facts have no OpenClaw");
  return openclaw;
}

export const given = (...args: readonly string[]): GivenOptions => parseOptions(args, { write: () => {} });

/** The options of a first run. */
export const options = (...args: readonly string[]): Options => withEarlierChoices(given(...args), {}, {});

/** The steps that are planned for these facts. */
export const kinds = (facts: Facts, ...args: string[]) =>
  makePlan(facts, options(...args)).steps.map(({ kind }) => kind);

/** What a person would be asked. */
export const questions = (facts: Facts, ...args: string[]) =>
  makePlan(facts, options(...args)).questions.map(({ about }) => about);

/** An empty folder, which is removed when the test ends. */
export function testFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "hd-install-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A machine on which `run` stands in for all programs, with its files in one folder. */
export async function environmentIn(
  folder: string,
  run: Run,
  changes: Partial<Environment> = {},
): Promise<Environment> {
  return {
    ...{ env: {}, homeDir: folder, root: folder, run, docker: new Docker(run, folder) },
    journal: await Journal.read(join(folder, "journal")),
    sidecarAt: () => {
      throw new Error("nothing here asks a sidecar");
    },
    pause: async () => {},
    now: Date.now,
    ...changes,
  };
}

/** Runs the steps as in a run that planned them. If `openclaw` runs, it is found. */
export async function runSteps(
  steps: readonly Step[],
  environment: Environment,
  target: Target = { kind: "host" },
) {
  const openclaw = await OpenClaw.find(target, environment);
  let text = "";
  const reporter = new JsonReporter({ write: (more) => (text += more) });
  const outcome = await execute(steps, environment, openclaw, reporter);
  reporter.end({ plan: undefined, ...outcome, isDryRun: false });
  const { warnings } = JSON.parse(text) as { readonly warnings: readonly string[] };
  return { ...outcome, warnings, error: outcome.steps.at(-1)?.error };
}
