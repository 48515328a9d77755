/** A sample memory of two months, for an agent of somebody who builds and deploys software. */
import type { Memory } from "../../app/memory.ts";
import type { ToolAudit } from "../../engine/audit/audit-rows.ts";

const DAY_MS = 86_400_000;
const DAY_SECONDS = 86_400;

interface Sample {
  /** Days before today. */
  readonly daysAgo: number;
  readonly key: string;
  readonly value: string;
  readonly category?: string;
  readonly tags?: readonly string[];
  readonly days?: number;
}

const FACTS: readonly Sample[] = [
  {
    daysAgo: 58,
    key: "editor/indentation",
    value: "Tabs in Go, two spaces everywhere else.",
    tags: ["style"],
  },
  {
    daysAgo: 55,
    key: "reviews/approvals",
    value: "A change needs one approval and a green run before it is merged.",
  },
  {
    ...{ daysAgo: 52, key: "deploy/preference", tags: ["ci", "release"], category: "preferences" },
    value: "We deploy by hand from the release branch, on Tuesdays.",
  },
  {
    daysAgo: 47,
    key: "shell/default",
    value: "fish on the laptop, bash in every script.",
    category: "preferences",
  },
  {
    daysAgo: 41,
    key: "services/billing/database",
    value: "Billing runs on PostgreSQL 18; its replica lags by at most a minute.",
    tags: ["billing"],
  },
  {
    daysAgo: 39,
    key: "services/billing/owner",
    value: "The payments team answers for billing; ask in the channel #payments first.",
  },
  {
    daysAgo: 33,
    key: "incidents/runbook",
    value: "Runbooks lie in the repository ops, one file for each service, beginning with how to roll back.",
  },
  {
    daysAgo: 30,
    key: "meetings/planning",
    value: "Planning is on Mondays at ten; send the notes the same day.",
  },
  {
    ...{ daysAgo: 24, key: "deploy/preference", tags: ["ci", "release"], category: "preferences", days: 120 },
    value:
      "We deploy through Konflux, never by hand. Staging first, production after the smoke tests are green.",
  },
  {
    daysAgo: 21,
    key: "deploy/rollback",
    value: "To roll back, revert the merge: Konflux deploys what was there before within ten minutes.",
    tags: ["ci"],
  },
  {
    daysAgo: 16,
    key: "tools/linter",
    value: "Biome with its defaults; nobody argues about commas any more.",
    category: "preferences",
  },
  {
    daysAgo: 12,
    key: "deploy/freeze",
    value: "No deployments in the last week of the quarter.",
    days: 18,
    tags: ["release"],
  },
  {
    daysAgo: 9,
    key: "services/search/index",
    value: "The search index is built anew every night at three; it takes forty minutes.",
  },
  {
    daysAgo: 6,
    key: "sprint/goal",
    value: "This sprint: the import of old invoices, and nothing else.",
    days: 14,
  },
  {
    daysAgo: 3,
    key: "tests/flaky",
    value: "The test of the calendar fails on leap days; it is known, and a fix is under review.",
    days: 14,
  },
  {
    daysAgo: 1,
    key: "language/answers",
    value: "Short answers first, reasons below, code last.",
    category: "preferences",
  },
];

const RUNS: readonly (Omit<ToolAudit, "at_unix"> & { readonly hoursAgo: number })[] = [
  { hoursAgo: 52, tool: "exec", outcome: "ok", duration_ms: 12_400, inputs: { command: "npm test" } },
  { hoursAgo: 50, tool: "read", outcome: "ok", duration_ms: 18, inputs: { path: "ops/billing.md" } },
  {
    hoursAgo: 27,
    tool: "exec",
    outcome: "failed",
    duration_ms: 96_000,
    inputs: { command: "npm run deploy:staging" },
  },
  { hoursAgo: 26, tool: "edit", outcome: "ok", duration_ms: 35, inputs: { path: "deploy/staging.yaml" } },
  {
    hoursAgo: 26,
    tool: "exec",
    outcome: "ok",
    duration_ms: 88_000,
    inputs: { command: "npm run deploy:staging" },
  },
  {
    hoursAgo: 4,
    tool: "web_fetch",
    outcome: "ok",
    duration_ms: 640,
    inputs: { url: "https://konflux-ci.dev/docs/" },
  },
  { hoursAgo: 2, tool: "read", outcome: "ok", duration_ms: 12, inputs: { path: "README.md" } },
];

/** `at` sets the memory's clock, which only goes forward, up to `today`. */
export async function fillSampleMemory(
  memory: Memory,
  subject: string,
  today: number,
  at: (time: number) => void,
): Promise<void> {
  const writer = { surface: "openclaw", agent: subject, sessionKind: "direct" };
  for (const { daysAgo, days = 90, ...fact } of FACTS) {
    at(today - daysAgo * DAY_MS);
    await memory.storeFact(subject, { ...fact, ttlSeconds: days * DAY_SECONDS }, writer);
  }
  at(today);
  for (const { hoursAgo, ...run } of RUNS) {
    const at_unix = Math.floor(today / 1_000) - hoursAgo * 3_600;
    await memory.recordToolCall(subject, { ...run, at_unix }, writer);
  }
}
