import { describe, expect, test } from "vitest";
import type { Memory } from "../../app/memory.ts";
import { HelmdeckError } from "../../engine/errors.ts";
import { HELP } from "../../plugin/chat-memory.ts";
import { parseChatRequest } from "../../plugin/chat-status.ts";
import type { SlashContext } from "../../plugin/openclaw-api.ts";
import { processReceipts } from "../../plugin/receipts.ts";
import { makeSlashCommand } from "../../plugin/slash-command.ts";
import type { RecallHit } from "../../recall/search-contract.ts";
import { GROUP_CONTEXT, MAIN_CONTEXT, policyFor, recordingLogger } from "./fake-host.ts";
import { accessTo, fakeMemory, HIT, hanging, READY } from "./fake-memory.ts";

function typing(
  args: string | undefined,
  memory: Memory | Error,
  context: object = MAIN_CONTEXT,
  config: unknown = {},
) {
  const log = recordingLogger();
  const command = makeSlashCommand("helmdeck", {
    access: accessTo(memory),
    policy: policyFor(config),
    log,
    deadlineMs: 40,
  });
  // The command reads only these fields.
  return Promise.resolve(command.handler({ ...context, args } as SlashContext)).then((reply) => ({
    text: reply.text,
    log,
  }));
}

const POSSIBLE: RecallHit = {
  ...{ ...HIT, key: "home", docid: "user_facts/home", path: "helmdeck/user_facts/home.md", title: "home" },
  ...{ score: 0.21, possible: true, snippet: "called Kolibri" },
};

describe("/helmdeck why", () => {
  const KEY = "why/only-here";
  const noted = {
    at: Date.UTC(2026, 10, 20),
    subject: "why-test",
    added: [{ key: KEY, why: "sure" }],
    withheld: [],
  };
  const config = { subjects: { main: "why-test" }, allow: ["groups"] };

  test("says what was added to the last messages, to the same callers as memory", async () => {
    const { turns } = processReceipts();
    turns.set("why-run", noted);
    try {
      expect((await typing("why", fakeMemory(), MAIN_CONTEXT, config)).text).toContain(KEY);
      expect((await typing("why", fakeMemory(), MAIN_CONTEXT)).text).toContain("Nothing was added");
      const group = (await typing("why", fakeMemory(), GROUP_CONTEXT, config)).text;
      expect(group).toContain("Only in a direct chat");
      expect(group).not.toContain(KEY);
    } finally {
      turns.delete("why-run");
    }
  });
});

describe("the parsed request", () => {
  test.each([
    ["", { kind: "status" }],
    ["status", { kind: "status" }],
    ["STATUS", { kind: "status" }],
    ["help", { kind: "help" }],
    ["status now", { kind: "help" }],
    ["search", { kind: "help" }],
    ["nonsense", { kind: "help" }],
    ["searching x", { kind: "help" }],
    ["search deploy preference", { kind: "search", query: "deploy preference" }],
    ["Search\n  --limit 3", { kind: "search", query: "--limit 3" }],
    [`search ${"x".repeat(5_000)}`, { kind: "search", query: "x".repeat(4_000) }],
  ])("%j", (args, request) => {
    expect(parseChatRequest(args)).toEqual(request);
  });
});

describe("the reply", () => {
  test("to help needs neither memory nor identity", async () => {
    expect(await typing("help", new Error("closed"), {})).toMatchObject({ text: HELP });
  });

  test("shows the status", async () => {
    const { text } = await typing(undefined, fakeMemory({ status: async () => READY }));
    expect(text).toBe(
      [
        "helmdeck memory: ready",
        "  database: /state/helmdeck-memory/memory.sqlite (node:sqlite)",
        "  key:      /state/helmdeck-memory.key",
        "  search:   keyword",
        "  main: 2 facts, 1 record of tool runs",
      ].join("\n"),
    );
  });

  test("lists hits, each with its kind and its escaped passage", async () => {
    const hit = { ...HIT, score: 0.912, snippet: "always\u001b[31m via\n\n\nKonflux", endLine: 5 };
    const memory = fakeMemory({
      search: async () => ({ results: [hit], mode: "keyword", reason: "still indexing" }),
    });
    const { text } = await typing("search deploy", memory);
    expect(text).toBe(
      '1. fact "deploy" in user_facts, stored 2001-09-09\n' +
        "   > always[U+001B][31m via\n   > Konflux\n\n(still indexing)",
    );
  });

  test("says which hits contradict each other", async () => {
    const { possible: _, ...sure } = { ...POSSIBLE, conflictsWith: [{ key: "home/wifi", updatedAt: 0 }] };
    const memory = fakeMemory({ search: async () => ({ results: [sure], mode: "keyword" }) });
    expect((await typing("search wifi", memory)).text).toContain(
      'fact "home" in user_facts, stored 2001-09-09; contradicts "home/wifi" of 1970-01-01',
    );
  });

  test("names the record of a run once", async () => {
    const key = "pack_history/slides.narrate/01794";
    const path = `helmdeck/pack_history/${key}.md`;
    const of = { kind: "pack", category: "pack_history", key, docid: `pack_history/${key}`, path } as const;
    const hit = { ...HIT, ...of, title: "run", snippet: "Outcome: ok" };
    const memory = fakeMemory({ search: async () => ({ results: [hit], mode: "keyword" }) });
    const { text } = await typing("search slides", memory);
    expect(text).toBe(`1. pack call "${key}", stored 2001-09-09\n   > Outcome: ok`);
  });

  test("reports that nothing was found", async () => {
    const memory = fakeMemory({ search: async () => ({ results: [], mode: "keyword" }) });
    expect(await typing("search x", memory)).toMatchObject({ text: 'Nothing found for "x".' });
  });

  test("without hits gives the memory's size if it is not empty", async () => {
    const unmatched = { facts: 12, auditRows: 1 };
    const memory = fakeMemory({ search: async () => ({ results: [], mode: "keyword", unmatched }) });
    expect(await typing("search x", memory)).toMatchObject({
      text: 'Nothing found for "x". 12 facts and 1 record of tool runs, none matched; /memories shows the newest.',
    });
  });

  test("marks possible hits", async () => {
    const memory = fakeMemory({ search: async () => ({ results: [POSSIBLE], mode: "keyword" }) });
    const { text } = await typing("search wifi", memory);
    expect(text).toBe(
      'Nothing answers "wifi" with certainty; these hits are only possibly related.\n\n' +
        '1. fact "home" in user_facts, stored 2001-09-09  (only possibly related)\n' +
        "   > called Kolibri",
    );
    expect(memory.calls[0]).toEqual({ method: "search", args: ["main", { query: "wifi", limit: 5 }] });
  });

  test("contains only sure hits and no counts in a group that the operator opened", async () => {
    const unmatched = { facts: 12, auditRows: 1 };
    const memory = fakeMemory({ search: async () => ({ results: [], mode: "keyword", unmatched }) });
    const { text } = await typing("search wifi", memory, GROUP_CONTEXT, { allow: ["groups"] });
    expect(text).toBe('Nothing found for "wifi".');
    expect(memory.calls).toMatchObject([{ args: ["main", { query: "wifi", recall: "quiet" }] }]);
  });

  test.each([
    ["a group", GROUP_CONTEXT],
    ["a hook", { agentId: "main", sessionKey: "agent:main:hook:1" }],
    ["nobody", {}],
  ])("refuses %s, without information about the memory", async (_, context) => {
    const memory = fakeMemory();
    const { text } = await typing("status", memory, context);
    expect(text).toMatch(/^helmdeck memory: /);
    expect(text).not.toContain("fact");
    expect(memory.calls).toEqual([]);
  });

  test("to a failure is one fixed sentence; the error's message is only logged", async () => {
    const { text, log } = await typing("status", new HelmdeckError("key_wrong", "of /home/x"));
    expect(text).toBe(
      "helmdeck memory is not available: the memory key belongs to another database; run openclaw helmdeck doctor.",
    );
    expect(log.lines).toEqual(["helmdeck memory: key_wrong: of /home/x"]);
  });

  test("comes in time if memory hangs", async () => {
    const { text } = await typing("search x", fakeMemory({ search: hanging }));
    expect(text).toContain("did not answer in time");
  });
});
