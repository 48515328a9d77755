/** No subject reads or deletes another's memory, for any two names and any use case. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { OpenMemory } from "../../app/compose.ts";
import type { Memory } from "../../app/memory.ts";
import { NOW, openTestMemory } from "../app/fixtures/memories.ts";
import { HOSTILE_NAMES } from "./names.ts";

const subjects = fc.oneof(
  fc.constantFrom(...HOSTILE_NAMES),
  fc.string({ unit: "binary-ascii", maxLength: 8 }),
  fc.string({ unit: "grapheme", maxLength: 8 }),
);
/** The empty name and "unknown" are the same subject. */
const strangers = fc.tuple(subjects, subjects).filter(([a, b]) => (a || "unknown") !== (b || "unknown"));

const SECRET = "zebrafish";
const KEY = "shared/key";
const COPY = "shared/copy";
const PACK = "lint";

async function fill(memory: OpenMemory, subject: string): Promise<void> {
  await memory.storeFact(subject, { key: KEY, value: SECRET });
  await memory.storeFact(subject, { key: COPY, value: SECRET });
  await memory.recordPackRun(subject, { pack: PACK, outcome: SECRET, at_unix: NOW / 1_000 });
  await memory.recordToolCall(subject, {
    tool: PACK,
    outcome: "ok",
    at_unix: NOW / 1_000,
    inputs: { path: SECRET },
  });
  await memory.recordPipelineRun(subject, {
    pipeline: PACK,
    run_id: SECRET,
    outcome: "failed",
    at_unix: NOW / 1_000,
  });
}

/** Everything that a subject can read, by every use case that returns data. */
async function everythingSeenBy(
  memory: OpenMemory,
  subject: string,
  path: string,
  runPath: string,
): Promise<unknown> {
  return Promise.all([
    memory.getFact(subject, { key: KEY }),
    memory.listFacts(subject, {}),
    memory.listFacts(subject, { prefix: "shared/" }),
    memory.review(subject, {}).then(({ findings, found }) => [findings, found]),
    memory.search(subject, { query: SECRET }),
    memory.search(subject, { query: "shared key lint" }),
    memory.search(subject, { query: "what did you do today" }),
    memory.readDocument(subject, { path }),
    memory.readDocument(subject, { path: runPath }),
    memory.readDocument(subject, { path: "helmdeck/my-memory.md" }).then((document) => document?.content),
    memory.myMemory(subject).then(({ categories }) => categories),
    memory.defaults(subject).then(({ packs, pipelines, recent }) => [packs, pipelines, recent]),
    memory.corpusPage(subject, {}),
    memory.corpusPage(subject, { query: SECRET }),
    memory.exportPage(subject, { withHistory: true }),
    memory.callers(subject),
    memory.status(subject).then((status) => [status.subject?.facts, status.subject?.auditRows]),
  ]);
}

const NO_COUNT = { facts: 0, auditRows: 0 };
const NOTHING = [
  undefined,
  { facts: [], unreadable: [] },
  { facts: [], unreadable: [] },
  [[], { duplicate: 0, conflict: 0, near: 0, similar: 0, expiring: 0 }],
  { results: [], mode: "keyword", unmatched: NO_COUNT },
  { results: [], mode: "keyword", unmatched: NO_COUNT },
  { results: [], mode: "keyword", unmatched: NO_COUNT },
  undefined,
  undefined,
  "# What helmdeck memory holds\n\nNothing yet.",
  [],
  [[], [], []],
  { chunks: [], note: "Nothing has been stored yet." },
  { chunks: [], mode: "keyword", note: "Nothing has been stored yet.", unmatched: NO_COUNT },
  { lines: [], problems: [] },
  { callers: [] },
  [0, 0],
];

async function runPathOf(memory: Memory, subject: string): Promise<string> {
  const { categories } = await memory.myMemory(subject);
  const key = categories.find(({ name }) => name === "pack_history")?.recentKeys[0] ?? "";
  return `helmdeck/pack_history/${key}.md`;
}

const SCOPES = [
  "everything",
  "all",
  "packs",
  "pipelines",
  "tools",
  `tool:${PACK}`,
  `pack:${PACK}`,
  `pipeline:${PACK}`,
  `key:${KEY}`,
  "category:user_facts",
  `helmdeck/user_facts/${KEY}.md`,
  `user_facts/${KEY}`,
];

// verifies P-alone-subjects
describe("for two subjects, whatever their names", () => {
  test("no use case shows one subject's data to the other", async () => {
    const memory = await openTestMemory();
    await fc.assert(
      fc.asyncProperty(strangers, async ([owner, stranger]) => {
        await memory.forget(stranger, { scope: "everything" });
        await fill(memory, owner);
        const runPath = await runPathOf(memory, owner);
        const seen = await everythingSeenBy(memory, stranger, `helmdeck/user_facts/${KEY}.md`, runPath);
        expect(seen).toEqual(NOTHING);
        await expect(memory.keepApart(stranger, { keys: [KEY, COPY] })).rejects.toMatchObject({
          code: "not_found",
        });
        expect((await memory.review(owner, {})).found.duplicate).toBe(1);
        expect(await memory.readDocument(owner, { path: runPath })).toBeDefined();
      }),
      { numRuns: 60 },
    );
  });

  test("no forget scope deletes or counts the other's data", async () => {
    const memory = await openTestMemory();
    await fc.assert(
      fc.asyncProperty(
        strangers,
        fc.constantFrom(...SCOPES),
        fc.boolean(),
        async ([owner, stranger], scope, dryRun) => {
          await memory.forget(stranger, { scope: "everything" });
          await fill(memory, owner);
          const before = await memory.status(owner);
          expect((await memory.forget(stranger, { scope, dryRun })).deleted).toBe(0);
          expect(await memory.status(owner)).toEqual(before);
        },
      ),
      { numRuns: 100 },
    );
  });

  test("storing a fact keeps the other's fact with the same key", async () => {
    const memory = await openTestMemory();
    await fc.assert(
      fc.asyncProperty(strangers, async ([owner, stranger]) => {
        await memory.storeFact(owner, { key: KEY, value: "mine" });
        expect((await memory.storeFact(stranger, { key: KEY, value: "yours" })).key).toBe(KEY);
        const facts = [{ key: KEY, value: "yours", supersedes: [KEY, COPY] }];
        expect((await memory.storeFacts(stranger, { facts })).refused).toBe(0);
        expect((await memory.getFact(owner, { key: KEY }))?.value).toBe("mine");
        expect((await memory.getFact(stranger, { key: KEY }))?.value).toBe("yours");
      }),
      { numRuns: 60 },
    );
  });

  test("fault 15: forgetting everything keeps the sessions of a subject with the same name prefix", async () => {
    const memory = await openTestMemory();
    for (const owner of HOSTILE_NAMES) await memory.storeFact(owner, { key: KEY, value: "v" });
    await memory.forget("a", { scope: "everything" });
    const left = await Promise.all(
      HOSTILE_NAMES.map(async (owner) => ((await memory.getFact(owner, { key: KEY })) ? owner : undefined)),
    );
    expect(left).toEqual(HOSTILE_NAMES.map((owner) => (owner === "a" ? undefined : owner)));
  });
});

// verifies P-alone-no-identity
test.each(["\ud800", "a\udfff", "x".repeat(513), "é".repeat(257), 7, null, {}])(
  "a subject that could be confused with another on disk (%#) is refused by every use case",
  async (given) => {
    const memory = await openTestMemory();
    const subject = given as string; // a host may pass any value
    const useCases = [
      () => memory.storeFact(subject, { key: "k", value: "v" }),
      () => memory.storeFacts(subject, { facts: [{ key: "k", value: "v" }] }),
      () => memory.getFact(subject, { key: "k" }),
      () => memory.listFacts(subject, {}),
      () => memory.review(subject, {}),
      () => memory.keepApart(subject, { keys: ["k", "l"] }),
      () => memory.search(subject, { query: "k" }),
      () => memory.readDocument(subject, { path: "helmdeck/my-memory.md" }),
      () => memory.forget(subject, { scope: "all" }),
      () => memory.myMemory(subject),
      () => memory.defaults(subject),
      () => memory.corpusPage(subject, {}),
      () => memory.exportPage(subject, {}),
      () => memory.revision(subject),
      () => memory.recordPackRun(subject, { pack: "p", outcome: "ok", at_unix: 1 }),
      () => memory.recordToolCall(subject, { tool: "t", outcome: "ok", at_unix: 1 }),
      () => memory.recordPipelineRun(subject, { pipeline: "p", run_id: "r", outcome: "failed", at_unix: 1 }),
      () => memory.warm(subject),
    ];
    for (const useCase of useCases)
      await expect(useCase()).rejects.toMatchObject({ code: "identity_refused" });
    const status = await memory.status(subject);
    expect(status).toMatchObject({ state: "failed", error: { code: "identity_refused" } });
  },
);
