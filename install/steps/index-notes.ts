/** Rebuilds OpenClaw's note index if it does not match the current provider, after installing and after uninstalling. */

import { HelmdeckError } from "../../engine/errors.ts";
import type { Environment } from "../environment.ts";
import { INSTALLER, OLDEST_FOR_NOTES, OUR_PROVIDERS } from "../install-names.ts";
import type { JournalFacts, OpenClawReady } from "../installation-facts.ts";
import { indexedNotes, type UnfitIndex, unfitIndexes } from "../notes-index.ts";
import { at, type Json } from "../openclaw-json.ts";
import { type CommandResult, reasonOf } from "../run-command.ts";
import { isOlder, type OpenClaw } from "../run-openclaw.ts";
import {
  type Definition,
  EXIT,
  requireOpenClaw,
  type StepContext,
  type StepDefinition,
} from "./step-definition.ts";

interface IndexNotes {
  readonly kind: "index-notes";
  readonly configPath: string;
  /** After restoring the former provider, a failure is only a warning, because that provider may be down. */
  readonly mustWork: boolean;
  /** A running gateway must have stopped using our service first, and must search the new index afterwards. */
  readonly awaitsGateway: boolean;
}

type Clock = Pick<Environment, "now" | "pause">;

/** For many notes and a model on a slow processor. */
const INDEX_TIMEOUT_MS = 1_800_000;
/** The gateway may be indexing at the same time. */
const RESET_WITHIN_MS = 60_000;
/** A gateway reloads when its search setting changes; generous for a slow machine. */
const FOLLOWS_WITHIN_MS = 120_000;
const LOOK_AGAIN_MS = 2_000;

const index: Definition<IndexNotes> = {
  kind: "index-notes",
  title: () => "rebuild OpenClaw's index of its notes",
  exitCode: EXIT.openclaw,
  run: renewIndexes,
};

export const indexNotes: StepDefinition<IndexNotes, IndexNotes> = {
  ...index,
  undo: {
    ...index,
    plan: ({ journal, openclaw }) =>
      openclaw !== undefined && isDueOnceTakenBack(journal, openclaw)
        ? indexNotesStep(openclaw, false)
        : undefined,
  },
};

export function indexNotesStep({ configPath, ...openclaw }: OpenClawReady, isPointed: boolean): IndexNotes {
  return {
    kind: "index-notes",
    configPath,
    mustWork: isPointed,
    awaitsGateway: !isPointed && searchesInGateway(openclaw),
  };
}

export function searchesInGateway({ gateway, search }: Pick<OpenClawReady, "gateway" | "search">): boolean {
  return gateway === "running" && search.enabled;
}

/** Our setting was undone: now, by an earlier killed run, or by a version that did not repair the index. */
export function isDueOnceTakenBack(
  { search, indexDue, target }: JournalFacts,
  openclaw: OpenClawReady,
): boolean {
  return search !== undefined || indexDue || (target !== undefined && isStuck(openclaw));
}

/** No provider is chosen, and OpenClaw does not touch the vectors of the removed one. */
export function isStuck({ unfitIndexes = [] }: OpenClawReady): boolean {
  return unfitIndexes.some(({ isChosen }) => !isChosen);
}

async function renewIndexes(step: IndexNotes, context: StepContext): Promise<string | undefined> {
  const { configPath, awaitsGateway } = step;
  const openclaw = requireOpenClaw(context);
  const { journal } = context.environment;
  const follows = awaitsGateway && (await waitUntilGatewayFollows(openclaw, configPath, context));
  const before = await lookAt(openclaw, configPath);
  for (const index of before.unfit ?? [undefined]) {
    const reason = await renew(openclaw, configPath, index, context.environment);
    if (reason !== undefined) return reportFailure(index, reason, step, context);
  }
  const after = before.unfit?.length === 0 ? before : await lookAt(openclaw, configPath);
  const left = after.unfit?.find(({ isChosen }) => !isChosen);
  if (left !== undefined)
    return reportFailure(left, "it still belongs to the former provider", step, context);
  await journal.remove(["indexDue"]);
  if (follows) await waitUntilGatewaySearches(openclaw, context);
  return after.notes === undefined ? undefined : remarkOn(after.notes);
}

function reportFailure(
  index: UnfitIndex | undefined,
  reason: string,
  { mustWork }: IndexNotes,
  { warn }: StepContext,
): undefined {
  const said = `OpenClaw did not rebuild its index of notes${forAgent(index)}: ${reason}. Later: ${remedyFor(index)}`;
  if (mustWork) throw new HelmdeckError("upstream_failed", said);
  warn(said);
}

function remarkOn(notes: number): string {
  return `${notes === 1 ? "1 note" : `${notes} notes`}; OpenClaw indexes new ones when it next looks`;
}

/** What OpenClaw reports of its indexes; undefined values are unknown. */
interface Seen {
  readonly unfit: readonly UnfitIndex[] | undefined;
  readonly notes: number | undefined;
}

async function lookAt(openclaw: OpenClaw, configPath: string): Promise<Seen> {
  const status = await openclaw.ask(["memory", "status", "--json"]);
  const config = await openclaw.authoredConfig(configPath);
  return { unfit: unfitIndexes(status, config), notes: indexedNotes(status) };
}

/**
 * The reason for a failure; undefined on success. Even if no provider was chosen, OpenClaw's default may be available (with a
 * key). The vectors are deleted only if there is none, because a reset also deletes cached embeddings that may have cost money.
 */
async function renew(
  openclaw: OpenClaw,
  configPath: string,
  index: UnfitIndex | undefined,
  clock: Clock,
): Promise<string | undefined> {
  const whose = index === undefined ? [] : ["--agent", index.agentId];
  const run = (...args: readonly string[]) =>
    openclaw.run(["memory", ...args, ...whose], { timeoutMs: INDEX_TIMEOUT_MS });
  const forced = await run("index", "--force");
  if (index === undefined || index.isChosen) return problemIn(forced);
  if (forced.exitCode === 0 && !(await isUnfit(openclaw, configPath, index))) return undefined;
  if (isOlder(openclaw.version, OLDEST_FOR_NOTES))
    return `OpenClaw ${openclaw.version} has no command that deletes it. Update it first (openclaw update)`;
  const reset = await untilDone(() => run("reset", "--yes"), clock);
  return problemIn(reset) ?? problemIn(await run("index"));
}

/** Without any notes, OpenClaw indexes nothing, reports success, and keeps the index. */
async function isUnfit(openclaw: OpenClaw, configPath: string, { agentId }: UnfitIndex): Promise<boolean> {
  const { unfit = [] } = await lookAt(openclaw, configPath);
  return unfit.some((index) => index.agentId === agentId);
}

async function untilDone(run: () => Promise<CommandResult>, { now, pause }: Clock): Promise<CommandResult> {
  const deadline = now() + RESET_WITHIN_MS;
  for (;;) {
    const ran = await run();
    if (ran.exitCode === 0 || now() > deadline) return ran;
    await pause(LOOK_AGAIN_MS);
  }
}

function problemIn(ran: CommandResult): string | undefined {
  return ran.exitCode === 0 ? undefined : reasonOf(ran);
}

/** A gateway that still uses our service would write its vectors again. False after a warning, or if there is nothing to follow. */
async function waitUntilGatewayFollows(
  openclaw: OpenClaw,
  configPath: string,
  context: StepContext,
): Promise<boolean> {
  if (isOurs(at(await openclaw.authoredConfig(configPath), "memory", "search", "provider"))) return false;
  const trouble = await untilGateway(openclaw, context, (details) => !isOurs(at(details, "provider")));
  if (trouble === undefined) return true;
  context.warn(`The gateway may still use its former settings. ${restartRemedy(openclaw)}`);
  return false;
}

/** One that an installation may have set. */
function isOurs(provider: Json | undefined): boolean {
  return OUR_PROVIDERS.some((one) => one === provider);
}

/** Only the gateway's own search tells whether it accepts the index that was built behind its back. */
async function waitUntilGatewaySearches(openclaw: OpenClaw, context: StepContext): Promise<void> {
  const trouble = await untilGateway(openclaw, context, searchesNotes);
  if (trouble !== undefined)
    context.warn(`The gateway does not search OpenClaw's notes: ${trouble}. ${restartRemedy(openclaw)}`);
}

function searchesNotes(details: Json | undefined): boolean {
  return (
    !isOurs(at(details, "provider")) && at(details, "unavailable") !== true && at(details, "stale") !== true
  );
}

/** Asks the gateway for notes until its answer passes; then undefined, otherwise what it answered last. */
async function untilGateway(
  openclaw: OpenClaw,
  { environment: { now, pause } }: StepContext,
  passes: (details: Json | undefined) => boolean,
): Promise<string | undefined> {
  const deadline = now() + FOLLOWS_WITHIN_MS;
  for (;;) {
    const answer = await openclaw
      .callTool("memory_search", { query: "notes", corpus: "memory" })
      .catch((error: Error) => error); // it is restarting
    if (!(answer instanceof Error) && passes(answer)) return undefined;
    if (now() > deadline) return answer instanceof Error ? answer.message : troubleIn(answer);
    await pause(LOOK_AGAIN_MS);
  }
}

function troubleIn(details: Json | undefined): string {
  const said = [at(details, "error"), at(details, "warning")].find((text) => typeof text === "string");
  return typeof said === "string" ? said.replace(/\.+$/, "") : "it still uses its former settings";
}

function restartRemedy({ restartCommand }: OpenClaw): string {
  return `Restart it, then look again: ${restartCommand}, then: ${INSTALLER} --repair`;
}

function forAgent(index: UnfitIndex | undefined): string {
  return index === undefined ? "" : ` (agent ${index.agentId})`;
}

/** OpenClaw refuses `--force` if no provider was chosen. */
function remedyFor(index: UnfitIndex | undefined): string {
  if (index === undefined) return `${INSTALLER} --repair`;
  const { agentId, isChosen } = index;
  if (isChosen) return `openclaw memory index --force --agent ${agentId}`;
  return `${INSTALLER} --repair, or openclaw memory reset --yes --agent ${agentId} && openclaw memory index --agent ${agentId}`;
}
