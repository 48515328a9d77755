/**
 * Forgets facts in a running helmdeck, which deletes by prefix, case-insensitively, in all categories.
 *
 * A request to forget "deploy" must not delete "deploy/konflux". So other keys with the prefix are searched first, and named in a
 * refusal; when helmdeck cannot show everything that would be deleted, nothing is sent. What was shown is looked at just before
 * that, and somebody may still come between.
 */

import { HelmdeckError } from "../../../engine/errors.ts";
import {
  type ForgetReadings,
  type ForgetScope,
  parseForgetScope,
  settleScope,
} from "../../../engine/facts/forget-scope.ts";
import { quotedKey } from "../../../engine/projections/frame.ts";
import type { Subject } from "../../../engine/store/namespace.ts";
import { requireDryRun } from "../../forgetting.ts";
import type { ForgetInput, Forgotten } from "../../memory.ts";
import type { EngineClient } from "../engine/engine-client.ts";
import { DEFAULTS, FORGOTTEN, MOST_RUNS } from "./helmdeck-rest.ts";
import { notThere } from "./helmdeck-texts.ts";
import type { KnownRows } from "./known-rows.ts";
import { type LookedUp, lookUpKey } from "./look-up-key.ts";
import { revisionOf } from "./store-at-helmdeck.ts";

export interface ForgetParts {
  readonly url: string;
  readonly rest: EngineClient;
  readonly known: KnownRows;
}

interface RunScope {
  readonly kind: "pack" | "pipeline";
  /** Absent for all of them. */
  readonly id?: string;
}

/** The key prefixes of runs. */
const RUNS = ["pack_history/", "pipeline_history/"] as const;
const MOST_NAMED = 5;
/** helmdeck's names of packs and pipelines. */
const RUN_NAME = /^[a-z0-9][a-z0-9_.-]*$/;

/**
 * Throws `method_not_allowed` for a scope that helmdeck lacks, and `invalid_input` when more than the request would be deleted.
 */
export async function forgetAtHelmdeck(
  parts: ForgetParts,
  agent: Subject,
  { scope: given, dryRun: wanted, upTo }: ForgetInput,
): Promise<Forgotten> {
  const dryRun = requireDryRun(wanted);
  const readings = parseForgetScope(given);
  const scope = given.trim();
  const run = readings.map(runsOf).find((one) => one !== undefined);
  const covered =
    run === undefined ? await coveredFact(parts, readings) : await coveredRuns(parts, agent, run);
  const { count, revision, keys } = covered;
  if (count === 0 || dryRun)
    return { scope, deleted: count, dryRun, erased: "nothing", ...(dryRun && { revision }) };
  if (upTo !== undefined && upTo !== revision)
    return { scope, deleted: 0, dryRun, erased: "nothing", newer: { count, keys } };
  const { deleted } = await parts.rest.call(agent, {
    ...{ path: "/api/v1/memory/forget", writes: true, answers: FORGOTTEN },
    body: { scope: covered.scope },
  });
  await covered.look?.();
  return { scope, deleted, dryRun, erased: "nothing" };
}

interface Covered {
  readonly count: number;
  /** In helmdeck's notation. */
  readonly scope: string;
  /** Of what is shown: another one when something else is. */
  readonly revision: number;
  /** Of facts. */
  readonly keys: readonly string[];
  /** Updates the local cache afterwards. */
  readonly look?: () => Promise<unknown>;
}

async function coveredFact({ url, known }: ForgetParts, readings: ForgetReadings): Promise<Covered> {
  let covered: Covered = { count: 0, scope: "", revision: 0, keys: [] };
  const exist: boolean[] = [];
  for (const reading of readings) {
    const key = keyOf(reading, url);
    const looked = await lookUpKey(known, key);
    const isElsewhere = reading.kind === "document" && looked.fact?.category !== reading.category;
    const exists = !isElsewhere && (looked.fact !== undefined || !looked.isAll);
    exist.push(exists);
    if (!exists) continue;
    refuseOthers(key, looked);
    const revision = looked.fact === undefined ? 0 : revisionOf(looked.fact);
    covered = { count: 1, scope: `key:${key}`, revision, keys: [key], look: () => lookUpKey(known, key) };
  }
  settleScope(readings, exist);
  return covered;
}

/** Throws for a single run, which helmdeck can only delete with all runs of its pack or pipeline. */
function keyOf(reading: ForgetScope, url: string): string {
  if (reading.kind === "key") return reading.key;
  if (reading.kind !== "document")
    throw notThere(
      url,
      `cannot forget ${WIDE[reading.kind] ?? "that"}; forget facts one by one, by their keys`,
    );
  if (reading.origin === "fact") return reading.key;
  throw notThere(
    url,
    "cannot forget a single run: pack:<id> or pipeline:<id> forgets all runs of one pack or pipeline",
  );
}

const WIDE: Partial<Record<ForgetScope["kind"], string>> = {
  all: "all facts at once (its own scope all keeps them)",
  everything: "everything of a caller",
  category: "a category",
  import: "an import",
  tools: "records of other tools, because it has none",
  tool: "records of another tool, because it has none",
};

/** Only the fact with exactly this key may be deleted. */
function refuseOthers(key: string, { keys, isAll }: LookedUp): void {
  const prefix = key.toLowerCase();
  if (!isAll)
    throw refused(
      `helmdeck deletes every key that begins with ${quotedKey(key)} but shows at most a hundred rows, so others could be deleted too: forget it on helmdeck's machine`,
    );
  const runs = RUNS.filter((kept) => kept.startsWith(prefix) || prefix.startsWith(kept));
  const others = keys.filter((other) => other !== key && other.toLowerCase().startsWith(prefix));
  const named = [
    ...others.map((other) => quotedKey(other)),
    ...runs.map((kept) => `every record under ${kept}`),
  ];
  if (named.length === 0) return;
  const more = named.length > MOST_NAMED ? `, and ${named.length - MOST_NAMED} more` : "";
  throw refused(
    `helmdeck deletes every key that begins with ${quotedKey(key)}, so these would be deleted too: ${named.slice(0, MOST_NAMED).join(", ")}${more}. Forget those first, or store a new value under this key`,
  );
}

function runsOf(reading: ForgetScope): RunScope | undefined {
  switch (reading.kind) {
    case "packs":
      return { kind: "pack" };
    case "pipelines":
      return { kind: "pipeline" };
    case "pack":
    case "pipeline":
      return { kind: reading.kind, id: reading.id };
    default:
      return undefined;
  }
}

async function coveredRuns(
  { rest, url }: ForgetParts,
  agent: Subject,
  { kind, id }: RunScope,
): Promise<Covered> {
  const { recent } = await rest.call(agent, DEFAULTS);
  const ofKind = recent.filter((run) => run.kind === kind);
  const names = ofKind.map((run) => run.id);
  if (id !== undefined) refuseOtherRuns(id, names);
  if (recent.length >= MOST_RUNS)
    throw notThere(
      url,
      `shows only the newest ${MOST_RUNS} runs, so the others cannot be counted here: forget them on helmdeck's machine`,
    );
  const covered = ofKind.filter((run) => id === undefined || run.id === id);
  const count = covered.length;
  const shown = covered.map((run) => run.key).sort();
  const revision = revisionOf({ category: kind, value: JSON.stringify(shown) });
  return { count, scope: id === undefined ? `${kind}s` : `${kind}:${id}`, revision, keys: [] };
}

function refuseOtherRuns(id: string, names: readonly string[]): void {
  const others = [...new Set(names)].filter(
    (name) => name !== id && `${name}/`.toLowerCase().startsWith(`${id}/`.toLowerCase()),
  );
  if (others.length === 0 && RUN_NAME.test(id)) return;
  const named =
    others.length === 0
      ? ""
      : `: ${others
          .slice(0, MOST_NAMED)
          .map((name) => quotedKey(name))
          .join(", ")}`;
  throw refused(
    `helmdeck deletes every name that begins with ${quotedKey(id)}, in upper or lower case, so other runs could be deleted too${named}. Forget them on helmdeck's machine`,
  );
}

function refused(rule: string): HelmdeckError {
  return new HelmdeckError("invalid_input", `Nothing was deleted: ${rule}.`, { details: { field: "scope" } });
}
