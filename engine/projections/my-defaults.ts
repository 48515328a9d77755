/**
 * Derives a subject's habits from past runs: the packs and pipelines used, their usual inputs, common findings.
 *
 * Habits change, so values decay: half the weight after a week, a quarter after two. A week of daily use thus outweighs all the
 * weeks before it. Weights are whole numbers, so that sums do not depend on their order; the smallest value wins a tie. Usage
 * counts are not decayed.
 */
import { type AuditRow, nameOfRun, parseAuditEntry } from "../audit/audit-entries.ts";
import { AUDIT_CATEGORIES } from "../audit/audit-keys.ts";
import { LEARNABLE_FIELDS } from "../audit/learnable.ts";
import { compareText } from "../compare-text.ts";
import { defined } from "../defined.ts";
import { harmlessLine } from "../facts/hostile-text.ts";
import { pagesOf } from "../pages-of.ts";
import type { EntryPage, MemoryReader, UnixMs } from "../store/memory-store.ts";
import type { Namespace } from "../store/namespace.ts";

export const DEFAULTS_LIMITS = {
  /** The half-life of a value's weight. */
  halfLifeSeconds: 7 * 86_400,
  packs: 12,
  pipelines: 12,
  findings: 20,
  recent: 200,
  /** Rows read, newest first. Older ones weigh little and are left out; `note` says so. */
  rows: 10_000,
} as const;

/** Rows opened per turn of the event loop. */
const PAGE_ROWS = 100;
/** The weight of a value used now. Large enough that after 30 days, the life of a row, one second still makes a difference. */
const FULL_WEIGHT = 2 ** 32;

type LearntDefaults<Counted extends "calls" | "runs"> = Readonly<Record<Counted, number>> & {
  readonly id: string;
  readonly last_used_unix: number;
  readonly common_inputs?: Readonly<Record<string, string>>;
};

interface CommonFinding {
  readonly code: string;
  /** The pack of the latest occurrence, and its severity there. */
  readonly pack: string;
  readonly severity: string;
  readonly occurrence_count: number;
  readonly last_seen_unix: number;
}

interface RecentRun {
  readonly kind: "pack" | "pipeline";
  readonly key: string;
  readonly id: string;
  readonly outcome: string;
  readonly at_unix: number;
  readonly duration_ms?: number;
  readonly learn_inputs?: Readonly<Record<string, string>>;
}

/** helmdeck's REST shape, without the caller and the time. */
export interface LearntFromRuns {
  /** From successful runs; ordered by count, then recency, then name. */
  readonly packs: readonly LearntDefaults<"calls">[];
  /** Likewise. */
  readonly pipelines: readonly LearntDefaults<"runs">[];
  /** From all pack runs, successful or not; in the same order. */
  readonly common_findings?: readonly CommonFinding[];
  /** All runs, newest first. */
  readonly recent: readonly RecentRun[];
  readonly note?: string;
}

/** A recorded run with its entry's key. */
export type RecordedRun = Exclude<AuditRow, { kind: "tool" }> & { readonly key: string };

/** Calls of other tools say nothing about habits with helmdeck's packs and pipelines. */
const LEARNT_FROM = [AUDIT_CATEGORIES.pack, AUDIT_CATEGORIES.pipeline];

/** Learns from the audit rows of a namespace. Rows that cannot be opened are skipped, and counted in the note. */
export async function learnDefaults(
  reader: Pick<MemoryReader, "list">,
  namespace: Namespace,
  now: UnixMs,
): Promise<LearntFromRuns> {
  const tally = new RunTally(now);
  let rows = 0;
  // By origin, which the writing code path sets: a fact, note or cached answer that looks like a run does not count.
  const query = { namespace, origin: "audit", category: LEARNT_FROM } as const;
  const left = () => Math.min(PAGE_ROWS, DEFAULTS_LIMITS.rows - rows);
  for await (const page of pagesOf((more) => reader.list({ ...query, limit: left(), ...more }))) {
    tally.addPage(page);
    rows += page.entries.length + page.unreadable.length;
    if (rows >= DEFAULTS_LIMITS.rows) return tally.learnt(page.nextCursor !== undefined);
  }
  return tally.learnt(false);
}

/** The defaults learnt from these runs, in any order. */
export function defaultsOf(runs: Iterable<RecordedRun>, now: UnixMs): LearntFromRuns {
  const tally = new RunTally(now);
  for (const run of runs) tally.add(run);
  return tally.learnt(false);
}

/** Counts runs one by one; keeps only the most recent ones. */
class RunTally {
  readonly #now: number;
  readonly #packs = new Map<string, UseTally>();
  readonly #pipelines = new Map<string, UseTally>();
  readonly #findings = new Map<string, CommonFinding>();
  #recent: RecentRun[] = [];
  #skipped = 0;

  constructor(now: UnixMs) {
    this.#now = Math.floor(now / 1_000);
  }

  addPage(page: EntryPage): void {
    this.#skipped += page.unreadable.length;
    for (const entry of page.entries) {
      const audit = parseAuditEntry(entry);
      if (audit === undefined) this.#skipped += 1;
      else if (audit.kind !== "tool") this.add({ ...audit, key: entry.key });
    }
  }

  add(run: RecordedRun): void {
    // Inputs come from people and models, and go into a model's context.
    const shown =
      run.row.learn_inputs &&
      Object.entries(run.row.learn_inputs).map(([field, value]) => [field, harmlessLine(value)]);
    const inputs = shown && Object.fromEntries(shown);
    const { outcome, at_unix, duration_ms } = run.row;
    this.#recent.push({
      kind: run.kind,
      key: run.key,
      id: nameOfRun(run),
      outcome,
      at_unix,
      ...defined({ duration_ms, learn_inputs: inputs }),
    });
    if (this.#recent.length >= 2 * DEFAULTS_LIMITS.recent) this.#recent = this.#newest();
    if (run.kind === "pack") this.#addFindings(run.row);
    if (run.row.outcome !== (run.kind === "pack" ? "ok" : "succeeded")) return;
    const uses = run.kind === "pack" ? this.#packs : this.#pipelines;
    const name = nameOfRun(run);
    const tally = uses.get(name) ?? new UseTally();
    uses.set(name, tally);
    tally.add(run.row.at_unix, weightAt(run.row.at_unix, this.#now), inputs);
  }

  learnt(isPartial: boolean): LearntFromRuns {
    const findings = [...this.#findings.values()].sort(
      (a, b) =>
        b.occurrence_count - a.occurrence_count ||
        b.last_seen_unix - a.last_seen_unix ||
        compareText(a.code, b.code),
    );
    const note = this.#note(isPartial);
    return {
      packs: mostUsed(this.#packs, DEFAULTS_LIMITS.packs).map(([id, use]) => ({
        id,
        calls: use.count,
        ...use.habits(),
      })),
      pipelines: mostUsed(this.#pipelines, DEFAULTS_LIMITS.pipelines).map(([id, use]) => ({
        id,
        runs: use.count,
        ...use.habits(),
      })),
      ...(findings.length > 0 && { common_findings: findings.slice(0, DEFAULTS_LIMITS.findings) }),
      recent: this.#newest(),
      ...defined({ note }),
    };
  }

  #newest(): RecentRun[] {
    const newestFirst = (a: RecentRun, b: RecentRun) => b.at_unix - a.at_unix || compareText(b.key, a.key);
    return this.#recent.sort(newestFirst).slice(0, DEFAULTS_LIMITS.recent);
  }

  #addFindings({ pack, at_unix, findings = [] }: Extract<AuditRow, { kind: "pack" }>["row"]): void {
    for (const { code, severity } of findings) {
      const seen = { code, pack, severity, last_seen_unix: at_unix };
      const before = this.#findings.get(code);
      const shown = before === undefined || isLater(seen, before) ? seen : before;
      this.#findings.set(code, { ...shown, occurrence_count: (before?.occurrence_count ?? 0) + 1 });
    }
  }

  #note(isPartial: boolean): string | undefined {
    const notes = [
      this.#recent.length === 0 ? "No runs have been recorded in the last 30 days." : undefined,
      isPartial ? `Learnt from the newest ${DEFAULTS_LIMITS.rows} runs; older ones are left out.` : undefined,
      this.#skipped > 0 ? `Skipped because they could not be read: ${this.#skipped}.` : undefined,
    ];
    const given = notes.filter((note) => note !== undefined);
    return given.length === 0 ? undefined : given.join(" ");
  }
}

/** The use of one pack or pipeline. */
class UseTally {
  count = 0;
  lastUsed = 0;
  /** Weights by field and value. */
  readonly #values = new Map<string, Map<string, number>>();

  add(atUnix: number, weight: number, inputs: Inputs = {}): void {
    this.count += 1;
    this.lastUsed = Math.max(this.lastUsed, atUnix);
    for (const [field, value] of Object.entries(inputs)) {
      const weights = this.#values.get(field) ?? new Map<string, number>();
      this.#values.set(field, weights.set(value, (weights.get(value) ?? 0) + weight));
    }
  }

  habits(): Pick<LearntDefaults<"calls">, "last_used_unix" | "common_inputs"> {
    const common = LEARNABLE_FIELDS.flatMap((field) => {
      const weights = this.#values.get(field);
      return weights === undefined ? [] : [[field, heaviest(weights)] as const];
    });
    return {
      last_used_unix: this.lastUsed,
      ...(common.length > 0 && { common_inputs: Object.fromEntries(common) }),
    };
  }
}

type Inputs = Readonly<Record<string, string>>;

/** A run in the future, by another machine's clock, weighs as much as one now. */
function weightAt(atUnix: number, now: number): number {
  const ageSeconds = Math.max(0, now - atUnix);
  return Math.round(FULL_WEIGHT * 2 ** (-ageSeconds / DEFAULTS_LIMITS.halfLifeSeconds));
}

function heaviest(weights: ReadonlyMap<string, number>): string {
  const [first] = [...weights].sort(([a, ofA], [b, ofB]) => ofB - ofA || compareText(a, b));
  return first?.[0] ?? "";
}

function mostUsed(
  uses: ReadonlyMap<string, UseTally>,
  most: number,
): readonly (readonly [string, UseTally])[] {
  const order = ([a, ofA]: readonly [string, UseTally], [b, ofB]: readonly [string, UseTally]) =>
    ofB.count - ofA.count || ofB.lastUsed - ofA.lastUsed || compareText(a, b);
  return [...uses].sort(order).slice(0, most);
}

type Seen = Omit<CommonFinding, "occurrence_count">;

/** Within one second, compares pack and then severity, so that the order of rows does not matter. */
function isLater(one: Seen, other: Seen): boolean {
  const order = one.last_seen_unix - other.last_seen_unix || compareText(other.pack, one.pack);
  return (order || compareText(other.severity, one.severity)) > 0;
}
