/**
 * What memory did unasked in this process: receipts of the last turns, and counts. Nothing of it is written anywhere.
 *
 * OpenClaw may run a hook and a chat command in two copies of this module (decision 14). Both use one process-wide symbol.
 */
import { BoundedMap } from "../engine/bounded-map.ts";
import type { UnaskedTurn } from "../pages/viewer.ts";
import type { AccessPolicy } from "./access-policy.ts";
import type { PluginConfig } from "./config.ts";
import type { MemoryAccess } from "./memory-access.ts";
import type { Logger } from "./openclaw-api.ts";

export interface Receipt extends UnaskedTurn {
  readonly subject: string;
}

/** A request in a turn that goes on. */
export interface Asked {
  readonly fact: string;
  /** The whole message, to find it among the turn's messages. */
  readonly message: string;
  readonly subject: string;
  readonly sessionKey: string;
  /** Whether memory saw everything that OpenClaw says about the message, as whether it was forwarded. */
  readonly isSeen: boolean;
}

interface Counts {
  /** Messages of persons that were looked at. */
  turns: number;
  turnsWithFacts: number;
  facts: number;
  late: number;
  failed: number;
  kept: number;
}

export interface Receipts {
  /** By run. */
  readonly turns: BoundedMap<string, Receipt>;
  /** By run. */
  readonly asked: BoundedMap<string, Asked>;
  /** Runs whose request was dealt with. */
  readonly done: BoundedMap<string, true>;
  /** By session: the keys that the person has not been told about. */
  readonly untold: BoundedMap<string, string>;
  readonly counts: Counts;
}

/** What the hooks that speak up work with. */
export interface UnaskedParts {
  readonly access: MemoryAccess;
  readonly policy: AccessPolicy;
  readonly log: Logger;
  readonly rules: Pick<PluginConfig, "autoRecall" | "captureRequests">;
  readonly receipts: Receipts;
  readonly deadlineMs?: number;
  readonly now?: () => number;
}

/** For the host: text after the person's words. */
export type PromptAddition = { readonly appendContext: string } | undefined;

const TURNS_KEPT = 50;
const RUNS_REMEMBERED = 1_000;

/** Changes with the stored type, because another version's copy may still be loaded. */
const REGISTRY = Symbol.for("helmdeck-memory/receipts/2");

export function makeReceipts(): Receipts {
  return {
    turns: new BoundedMap(TURNS_KEPT),
    asked: new BoundedMap(TURNS_KEPT),
    done: new BoundedMap(RUNS_REMEMBERED),
    untold: new BoundedMap(TURNS_KEPT),
    counts: { turns: 0, turnsWithFacts: 0, facts: 0, late: 0, failed: 0, kept: 0 },
  };
}

/** Those of this process. */
export function processReceipts(): Receipts {
  const found: unknown = Reflect.get(globalThis, REGISTRY);
  // Only this function, in this or another copy of the module, writes under this symbol.
  if (found !== undefined) return found as Receipts;
  const made = makeReceipts();
  Reflect.set(globalThis, REGISTRY, made);
  return made;
}

/** Sets the receipt of a run; a turn that the host prepares again keeps one. */
export function noteTurn({ turns, counts }: Receipts, run: string, receipt: Receipt): void {
  const before = turns.get(run);
  turns.set(run, receipt);
  if (before !== undefined) return;
  counts.turns += 1;
  counts.turnsWithFacts += receipt.added.length > 0 ? 1 : 0;
  counts.facts += receipt.added.length;
}

/** The newest receipts of a subject, `most` at most, newest first. */
export function receiptsOf({ turns }: Receipts, subject: string, most: number): readonly Receipt[] {
  return [...turns.values()]
    .filter((receipt) => receipt.subject === subject)
    .slice(-most)
    .toReversed();
}
