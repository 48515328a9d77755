/** One run of the installer: inspect, plan, show the plan, ask, execute, summarise. */

import { createInterface } from "node:readline/promises";
import { CommanderError } from "commander";
import { isHelmdeckError } from "../engine/errors.ts";
import { embedsElsewhere, recordChoices, withEarlierChoices } from "./earlier-choices.ts";
import {
  defaultEmbeddings,
  defaultNote,
  EMBEDDING_QUESTION,
  embeddingAnswers,
  noSidecarNote,
} from "./embedding-choice.ts";
import { type Environment, homeOf, thisEnvironment } from "./environment.ts";
import { execute, type Outcome } from "./execute.ts";
import { finalMessage } from "./final-message.ts";
import { type Inspected, inspect } from "./inspect/inspect.ts";
import { INSTALLER } from "./install-names.ts";
import type { Facts } from "./installation-facts.ts";
import { acquireInstallerLock, installerLockFile } from "./installer-lock.ts";
import { journalFolder } from "./journal.ts";
import { type GivenOptions, type Options, parseOptions } from "./options.ts";
import { makePlan } from "./plan/make-plan.ts";
import type { Plan, Question } from "./plan/plan.ts";
import { JsonReporter, LineReporter, type Reporter } from "./report.ts";
import { EXIT, type ExitCode } from "./steps/step-definition.ts";

/** Asks a person. */
export interface Ask {
  readonly agrees: (question: string) => Promise<boolean>;
  /** The place of the chosen answer. The first one is the default. */
  readonly chooses: (question: string, answers: readonly string[]) => Promise<number>;
}

/** Runs `install.sh <args>` and returns its exit code. `root`: the package's folder. Never throws. */
export async function install(args: readonly string[], root: string): Promise<ExitCode> {
  const { stdout, stderr, stdin, env } = process;
  // A closed pipe (`| head`) must not end a run in the middle of a step.
  for (const stream of [stdout, stderr]) stream.on("error", () => {});
  let options: GivenOptions;
  try {
    options = parseOptions(args, { write: (text) => void stdout.write(text) });
  } catch (error) {
    return endOfUsage(error, (text) => void stderr.write(text));
  }
  const reporter = options.json ? new JsonReporter(stdout) : new LineReporter(stdout, env);
  const isPerson = stdin.isTTY === true && stdout.isTTY === true && !options.json && !options.yes;
  try {
    return await withInstallerLock(options, reporter, async () =>
      runInstaller(await thisEnvironment(root), options, reporter, isPerson ? terminal : undefined),
    );
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const isLock = isHelmdeckError(error, "store_unavailable");
    return endEmpty(isLock ? EXIT.prerequisite : EXIT.openclaw, options, reporter, message);
  }
}

/** Read-only runs need no lock. */
async function withInstallerLock(
  options: GivenOptions,
  reporter: Reporter,
  run: () => Promise<ExitCode>,
): Promise<ExitCode> {
  if (options.dryRun) return run();
  const lock = acquireInstallerLock(installerLockFile(journalFolder(process.env, homeOf(process.env))));
  if (lock.isAcquired) return run().finally(lock.release);
  const holder = lock.holder === undefined ? "" : ` (process ${lock.holder})`;
  reporter.unmet([
    {
      what: "turn",
      message: `Another installer is running for this account${holder}.`,
      remedy: "Wait until it has finished, then run this again.",
    },
  ]);
  return endEmpty(EXIT.prerequisite, options, reporter);
}

function endEmpty(
  exitCode: ExitCode,
  { dryRun }: GivenOptions,
  reporter: Reporter,
  error?: string,
): ExitCode {
  const said = error === undefined ? {} : { error };
  reporter.end({ plan: undefined, steps: [], exitCode, isDryRun: dryRun, ...said });
  return exitCode;
}

export async function runInstaller(
  environment: Environment,
  given: GivenOptions,
  reporter: Reporter,
  ask: Ask | undefined,
): Promise<ExitCode> {
  const { facts, plan, openclaw, options } = await resolvePlan(environment, given, reporter, ask);
  const end = (
    exitCode: ExitCode,
    steps: Outcome["steps"] = [],
    closing: readonly string[] = [],
  ): ExitCode => {
    reporter.end({ plan, steps, exitCode, isDryRun: options.dryRun, closing });
    return exitCode;
  };
  reporter.kept(plan.kept);
  if (given.model !== undefined && !embedsElsewhere(options.embeddings)) reporter.warn(MODEL_WARNING);
  if (plan.unmet.length > 0) {
    reporter.unmet(plan.unmet);
    if (options.dryRun && lacksOnlyDocker(plan))
      reporter.plan(makePlan(facts, { ...options, embeddings: { kind: "builtin" } }), BUILT_IN_PLAN);
    return end(EXIT.prerequisite);
  }
  reporter.plan(plan);
  if (options.dryRun) return end(EXIT.done);
  if (!(await mayGoOn(plan, options, reporter, ask))) return end(EXIT.user);
  if (options.mode === "install") await recordChoices(environment.journal, options);
  const outcome = await execute(plan.steps, environment, openclaw, reporter);
  const closing = outcome.exitCode === EXIT.done ? finalMessage(facts, options, environment) : [];
  return end(outcome.exitCode, outcome.steps, closing);
}

const MODEL_WARNING =
  "--embedding-model is for a service: add --embeddings sidecar, or --embeddings-url URL.";

const BUILT_IN_PLAN = "Plan without Docker (--embeddings builtin)";

function lacksOnlyDocker({ unmet }: Plan): boolean {
  return unmet.length > 0 && unmet.every(({ what }) => what === "docker");
}

/** Docker is installed, and its engine or compose is missing. */
function hasUnusableDocker({ docker }: Facts): boolean {
  return docker.state === "unreachable" || docker.state === "no_compose";
}

interface ResolvedPlan {
  readonly facts: Facts;
  readonly plan: Plan;
  readonly openclaw: Inspected["openclaw"];
  readonly options: Options;
}

/** A final plan: all questions are answered. */
async function resolvePlan(
  environment: Environment,
  given: GivenOptions,
  reporter: Reporter,
  ask: Ask | undefined,
): Promise<ResolvedPlan> {
  const options = withEarlierChoices(given, environment.journal.entries, environment.env);
  const done = reporter.working("Checking this machine");
  const { facts, openclaw } = await inspect(environment, options).finally(done);
  const embeddings = await chosenEmbeddings(facts, options, reporter, ask);
  // A service of the operator's own is inspected, too.
  if (embeddings.kind === "url" && options.embeddings.kind !== "url")
    return resolvePlan(environment, { ...given, embeddings }, reporter, ask);
  const chosen = { ...options, embeddings };
  const plan = makePlan(facts, chosen);
  if (options.dryRun || ask === undefined) return { facts, plan, openclaw, options: chosen };
  const answered = await answersTo(plan.questions, chosen, ask);
  return { facts, plan: makePlan(facts, answered), openclaw, options: answered };
}

/** Asks what is to embed if nobody chose it, or if only Docker is missing for what was chosen. */
async function chosenEmbeddings(
  facts: Facts,
  options: Options,
  reporter: Reporter,
  ask: Ask | undefined,
): Promise<Options["embeddings"]> {
  const { embeddings, mode, isEmbeddingOpen } = options;
  if (mode !== "install") return embeddings;
  const planned = makePlan(facts, options);
  if (!isEmbeddingOpen && !lacksOnlyDocker(planned)) return embeddings;
  const isInstallable = makePlan(facts, { ...options, embeddings: { kind: "none" } }).unmet.length === 0;
  if (isEmbeddingOpen && (ask === undefined || options.dryRun || !isInstallable)) {
    const chosen = defaultEmbeddings(facts);
    if (chosen.kind !== "sidecar" && isInstallable) reporter.warn(defaultNote(facts));
    return chosen;
  }
  if (ask === undefined || options.dryRun) return embeddings;
  if (!isEmbeddingOpen) reporter.unmet(planned.unmet);
  else if (hasUnusableDocker(facts)) reporter.warn(noSidecarNote(facts));
  const answers = embeddingAnswers(facts, options);
  const place = await ask.chooses(
    EMBEDDING_QUESTION,
    answers.map(({ text }) => text),
  );
  return answers[place]?.embeddings ?? embeddings;
}

async function answersTo(questions: readonly Question[], options: Options, ask: Ask): Promise<Options> {
  let answered = options;
  for (const { about, text } of questions) answered = withAnswer(answered, about, await ask.agrees(text));
  return answered;
}

function withAnswer(options: Options, about: Question["about"], isYes: boolean): Options {
  switch (about) {
    case "tools":
      return { ...options, auditTools: isYes ? "all" : "helmdeck" };
    case "speakUp":
      return { ...options, speakUp: isYes ? "on" : "off" };
    case "keepAYear":
      return { ...options, keepAYear: isYes ? "on" : "off" };
    case "notes":
      return { ...options, notes: isYes ? "builtin" : "none" };
    default:
      return isYes ? { ...options, replaces: [...options.replaces, about] } : options;
  }
}

async function mayGoOn(
  { steps }: Plan,
  { yes, mode }: Options,
  reporter: Reporter,
  ask: Ask | undefined,
): Promise<boolean> {
  if (yes || mode === "verify" || steps.length === 0) return true;
  if (ask !== undefined) return ask.agrees("Continue?");
  reporter.warn("There is no terminal to ask on: pass --yes to continue.");
  return false;
}

const terminal: Ask = {
  agrees: async (question) => /^y(es)?$/i.test(await typed(`${question} [y/N] `)),
  chooses: async (question, answers) => {
    const numbers = answers.map((answer, place) => `  ${place + 1}  ${answer}\n`).join("");
    for (;;) {
      const text = await typed(`${question}\n${numbers}Choose 1 to ${answers.length} [1]: `);
      const place = text === "" ? 0 : Number(text) - 1;
      if (answers[place] !== undefined) return place;
    }
  },
};

async function typed(question: string): Promise<string> {
  const reader = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return (await reader.question(question)).trim();
  } finally {
    reader.close();
  }
}

/** Requested help has been printed; anything else is a usage error. */
function endOfUsage(error: unknown, write: (text: string) => void): ExitCode {
  if (error instanceof CommanderError && error.exitCode === 0) return EXIT.done;
  const said = error instanceof Error ? error.message.replace(/^error: /, "") : String(error);
  const [first = "", ...rest] = said.replace(/([^.?)])$/, "$1.").replace(/\s+/g, " ");
  write(`! ${first.toUpperCase()}${rest.join("")} See ${INSTALLER} --help.\n`);
  return EXIT.user;
}
