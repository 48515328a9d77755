/** Sessions that closed sessions started. The host's records, as OpenClaw 2026.9.6 really writes them, decide on access. */
import * as fc from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { ClosedContext } from "../../plugin/config.ts";
import type { HostApi, HostConfig } from "../../plugin/openclaw-api.ts";
import { lendScheduler } from "../../plugin/scheduler.ts";
import { recordReader, tellsOrigins } from "../../plugin/session-record.ts";
import { policyFor, recordingLogger, sandboxing, TRAP } from "./fake-host.ts";
import { hanging } from "./fake-memory.ts";

const GROUP = "agent:main:telegram:group:-100";
const DIRECT = "agent:main:telegram:direct:42";
const MAIN = "agent:main:main";
const CHILD = "agent:main:subagent:c1";
const ACP = "agent:main:acp:a1";
const JOB = "0b1c";
const RUN = `agent:main:cron:${JOB}:run:77`;
const OPEN = { ok: true, subject: "main", agentId: "main", sessionKind: expect.any(String) };
/** Admitted because the operator opened it, so with sure hits only. */
const quietly = (opened: string) => ({ ...OPEN, opened });
const closed = (reason: string) => ({ ok: false, reason });

type Entries = Readonly<Record<string, object>>;

const spawned = (by: string) => ({
  ...{ spawnedBy: by, parentSessionKey: by, completionOwnerSessionKey: by },
  ...{ createdVia: "spawn", createdActor: { type: "agent", id: "main" }, spawnDepth: 1 },
});
const stamped = (scheduledToolPolicy?: object) => ({
  createdVia: "cron",
  createdActor: { type: "system" },
  cronRunContinuation: { phase: "running", scheduledToolPolicy },
});
const byAccount = (ownerSessionKey: string) => ({ version: 1, mode: "account", ownerSessionKey });
const TRUSTED = { version: 1, mode: "trusted" };

/** The part of the host's runtime for sessions. The real method is synchronous. */
function apiOver(getSessionEntry: unknown): Pick<HostApi, "runtime"> {
  const runtime = { agent: { session: { getSessionEntry } } };
  return { runtime } as unknown as Pick<HostApi, "runtime">; // the code reads only this part
}

interface Host {
  readonly allow?: readonly ClosedContext[];
  readonly config?: HostConfig;
  readonly getSessionEntry?: unknown;
  readonly originDeadlineMs?: number;
}

function policyOver(entries: Entries, host: Host = {}) {
  const { allow = [], getSessionEntry = ({ sessionKey }: { sessionKey: string }) => entries[sessionKey] } =
    host;
  const log = recordingLogger();
  const { config = {}, originDeadlineMs = 60_000 } = host;
  const readRecord = recordReader(apiOver(getSessionEntry));
  return { log, policy: policyFor({ allow }, { config, readRecord, log, originDeadlineMs }) };
}

function verdictOn(session: string, entries: Entries, host: Host = {}, sandboxed = false) {
  const { policy } = policyOver(entries, host);
  return policy.verdict({ agentId: "main", agentSessionKey: session, sandboxed });
}

describe.each([
  ["a sub-agent", CHILD],
  ["an ACP session", ACP],
  ["a separate session of a sub-agent", "agent:main:dashboard:d1"],
  ["a session with a name", "agent:main:big-refactor"],
])("%s", (_, child) => {
  test.each([MAIN, DIRECT, "agent:main:explicit:e1", "agent:main:dashboard:d2"])(
    "of %s counts as its agent",
    async (parent) => {
      expect(await verdictOn(child, { [child]: spawned(parent) })).toEqual(OPEN);
    },
  );

  test.each([
    [GROUP, "groups"],
    ["agent:main:slack:channel:c1:thread:2", "groups"],
    ["global", "groups"],
    ["agent:main:hook:1", "hooks"],
    ["agent:work:main", "agent_mismatch"],
    ["main", "malformed"],
    ["agent:main:unknown", "malformed"],
  ])("of %s gets nothing: %s", async (parent, reason) => {
    expect(await verdictOn(child, { [child]: spawned(parent) })).toEqual(closed(reason));
  });

  test.each(["spawnedBy", "parentSessionKey", "completionOwnerSessionKey"])(
    "gets nothing if only %s is a group",
    async (field) => {
      const entry = { ...spawned(MAIN), [field]: GROUP };
      expect(await verdictOn(child, { [child]: entry })).toEqual(closed("groups"));
    },
  );

  test("of a group is open only if the operator opens groups", async () => {
    const entries = { [child]: spawned(GROUP) };
    expect(await verdictOn(child, entries, { allow: ["groups"] })).toEqual(quietly("groups"));
    expect(await verdictOn(child, entries, { allow: ["hooks", "sandboxed"] })).toEqual(closed("groups"));
  });

  test("that a group or channel also writes to gets nothing", async () => {
    for (const now of [
      { chatType: "group" },
      { chatType: "channel" },
      { groupId: "-100" },
      { groupId: -100 },
    ]) {
      expect(await verdictOn(child, { [child]: { ...spawned(MAIN), ...now } })).toEqual(closed("groups"));
    }
    expect(await verdictOn(child, { [child]: { ...spawned(MAIN), chatType: "direct" } })).toEqual(OPEN);
  });

  test("that a web hook wrote to gets nothing, unless hooks are open", async () => {
    const entries = { [child]: { ...spawned(MAIN), hookExternalContentSource: "webhook" } };
    expect(await verdictOn(child, entries)).toEqual(closed("hooks"));
    expect(await verdictOn(child, entries, { allow: ["hooks"] })).toEqual(quietly("hooks"));
  });

  test("of a group's descendant gets nothing, five levels deep", async () => {
    const line = [1, 2, 3, 4].map((depth) => `agent:main:subagent:depth${depth}`);
    const entries = (root: string) =>
      Object.fromEntries([child, ...line].map((key, at) => [key, spawned(line[at] ?? root)]));
    expect(await verdictOn(child, entries(MAIN))).toEqual(OPEN);
    expect(await verdictOn(child, entries(GROUP))).toEqual(closed("groups"));
  });

  test("whose chain of parents is circular, broken or endless gets nothing", async () => {
    const unknown = closed("unknown_origin");
    const other = "agent:main:subagent:other";
    expect(await verdictOn(child, { [child]: spawned(child) })).toEqual(unknown);
    expect(await verdictOn(child, { [child]: spawned(other), [other]: spawned(child) })).toEqual(unknown);
    expect(await verdictOn(child, { [child]: spawned(other) })).toEqual(unknown);
    expect(await verdictOn(child, { [child]: spawned(other), [other]: {} })).toEqual(unknown);
    let depth = 0;
    const getSessionEntry = () => {
      depth += 1;
      return spawned(`agent:main:subagent:${depth}`);
    };
    expect(await verdictOn(child, {}, { getSessionEntry })).toEqual(unknown);
    expect(depth).toBeLessThan(100);
  });

  test("of a sandboxed session gets nothing, unless sandboxed runs are open", async () => {
    const parent = "agent:main:explicit:boxed";
    const entries = { [child]: spawned(parent), [parent]: { sandbox: "required" } };
    expect(await verdictOn(child, entries)).toEqual(closed("sandboxed"));
    expect(await verdictOn(child, entries, { allow: ["sandboxed"] })).toEqual(quietly("sandboxed"));
    const config = sandboxing("non-main");
    expect(await verdictOn(child, { [child]: spawned(DIRECT) }, { config })).toEqual(closed("sandboxed"));
    expect(await verdictOn(child, { [child]: spawned(MAIN) }, { config })).toEqual(OPEN);
  });

  test("of a session that the host last reported as sandboxed gets nothing", async () => {
    const { policy } = policyOver({ [child]: spawned(DIRECT) });
    await policy.verdict({ agentId: "main", agentSessionKey: DIRECT, sandboxed: true });
    const asked = { agentId: "main", agentSessionKey: child, sandboxed: false };
    expect(await policy.verdict(asked)).toEqual(closed("sandboxed"));
  });

  test("is checked again each time", async () => {
    const entries: Record<string, object> = { [child]: spawned(MAIN) };
    const { policy } = policyOver(entries);
    const asked = { agentId: "main", agentSessionKey: child, sandboxed: false };
    expect(await policy.verdict(asked)).toEqual(OPEN);
    entries[child] = spawned(GROUP);
    expect(await policy.verdict(asked)).toEqual(closed("groups"));
  });

  test("gets nothing on a host that has no session records, answers too late or fails, which is logged once", async () => {
    const failing = () => {
      throw new Error("s3cr3t");
    };
    const hosts: readonly Host[] = [
      { getSessionEntry: "not a function" },
      { getSessionEntry: failing },
      { getSessionEntry: () => Promise.reject(new Error("s3cr3t")) },
      { getSessionEntry: hanging, originDeadlineMs: 5 },
    ];
    for (const host of hosts) {
      const { policy, log } = policyOver({}, host);
      const asked = { agentId: "main", agentSessionKey: child, sandboxed: false };
      expect(await policy.verdict(asked)).toEqual(closed("unknown_origin"));
      expect(await policy.verdictWithoutSandboxFlag(asked)).toEqual(closed("unknown_origin"));
      expect(log.lines).toEqual([expect.stringContaining("unknown origin")]);
      expect(log.lines.join()).not.toContain("s3cr3t");
    }
  });

  test("is checked with a host that answers asynchronously", async () => {
    const getSessionEntry = async () => spawned(GROUP);
    expect(await verdictOn(child, {}, { getSessionEntry })).toEqual(closed("groups"));
    expect(await verdictOn(child, {}, { getSessionEntry: async () => spawned(MAIN) })).toEqual(OPEN);
  });
});

describe("a session without a record", () => {
  test.each([CHILD, ACP, RUN, `agent:main:cron:${JOB}`])("%s gets nothing", async (session) => {
    expect(await verdictOn(session, {})).toEqual(closed("unknown_origin"));
    expect(await verdictOn(session, { [session]: {} })).toEqual(closed("unknown_origin"));
  });

  test.each(["agent:main:big-refactor", "agent:main:dashboard:d1", "agent:main:explicit:e1"])(
    "%s is checked by its key",
    async (session) => {
      expect(await verdictOn(session, {})).toEqual(OPEN);
      expect(await verdictOn(session, { [session]: { createdVia: "operator" } })).toEqual(OPEN);
    },
  );
});

test("a part of a sub-agent's session is checked by the sub-agent's record", async () => {
  const part = `${CHILD}:thread:1`;
  expect(await verdictOn(part, { [CHILD]: spawned(MAIN) })).toEqual(OPEN);
  expect(await verdictOn(part, { [CHILD]: spawned(GROUP), [part]: {} })).toEqual(closed("groups"));
});

test("the main session and direct chats are never looked up, so that the host cannot delay or close them", async () => {
  const getSessionEntry = vi.fn(() => {
    throw new Error("broken");
  });
  for (const session of [MAIN, DIRECT, `${MAIN}:thread:1`]) {
    expect(await verdictOn(session, {}, { getSessionEntry })).toEqual(OPEN);
  }
  expect(getSessionEntry).not.toHaveBeenCalled();
});

test("the host is asked about the session's own agent, without its caches", async () => {
  const getSessionEntry = vi.fn(() => spawned(MAIN));
  await verdictOn(CHILD, {}, { getSessionEntry });
  expect(getSessionEntry.mock.calls).toEqual([
    [{ agentId: "main", sessionKey: CHILD, readConsistency: "latest" }],
  ]);
});

describe("a scheduled run", () => {
  let takeBack = () => {};
  afterEach(() => takeBack());

  /** The scheduler that the host passes to the service, with these jobs. */
  function scheduling(...jobs: readonly object[]) {
    takeBack = lendScheduler(() => ({ list: async () => jobs }) as never); // the code calls only this method
  }

  test("of a job that the operator created counts as its agent", async () => {
    expect(await verdictOn(RUN, { [RUN]: stamped(TRUSTED) })).toEqual(OPEN);
  });

  test.each([
    ["a group", GROUP, closed("groups")],
    ["another agent", "agent:work:main", closed("agent_mismatch")],
    ["the main session", MAIN, OPEN],
    ["a direct chat", DIRECT, OPEN],
  ])("of a job from %s is checked by that origin", async (_, owner, verdict) => {
    expect(await verdictOn(RUN, { [RUN]: stamped(byAccount(owner)) })).toEqual(verdict);
    const unstamped = { [RUN]: stamped() };
    scheduling({
      id: JOB,
      owner: { agentId: "main", sessionKey: owner },
      scheduledToolPolicy: byAccount(owner),
    });
    expect(await verdictOn(RUN, unstamped)).toEqual(verdict);
  });

  test("without a recorded origin is checked by its current job", async () => {
    const entries = { [RUN]: stamped() };
    expect(await verdictOn(RUN, entries)).toEqual(closed("unknown_origin"));
    scheduling({ id: "another", scheduledToolPolicy: TRUSTED });
    expect(await verdictOn(RUN, entries)).toEqual(closed("unknown_origin"));
    scheduling({ id: JOB, scheduledToolPolicy: TRUSTED });
    expect(await verdictOn(RUN, entries)).toEqual(OPEN);
    scheduling({ id: JOB });
    expect(await verdictOn(RUN, entries)).toEqual(closed("unknown_origin"));
    scheduling({ id: JOB, sessionKey: GROUP, scheduledToolPolicy: TRUSTED });
    expect(await verdictOn(RUN, entries)).toEqual(closed("groups"));
    scheduling({ id: JOB, owner: { sessionKey: GROUP }, scheduledToolPolicy: TRUSTED });
    expect(await verdictOn(RUN, entries)).toEqual(closed("groups"));
  });

  test("gets nothing without a scheduler, and a copy of the plugin that stops removes only its own", async () => {
    const entries = { [RUN]: stamped() };
    const scheduler = () => ({ list: async () => [{ id: JOB, scheduledToolPolicy: TRUSTED }] }) as never;
    const first = lendScheduler(scheduler);
    takeBack = lendScheduler(() => scheduler());
    first();
    expect(await verdictOn(RUN, entries)).toEqual(OPEN);
    takeBack();
    expect(await verdictOn(RUN, entries)).toEqual(closed("unknown_origin"));
  });

  test("of a web hook counts as a hook's, although its key looks the same", async () => {
    const entries = { [RUN]: { ...stamped(), hookExternalContentSource: "webhook" } };
    expect(await verdictOn(RUN, entries)).toEqual(closed("hooks"));
    expect(await verdictOn(RUN, entries, { allow: ["groups", "sandboxed"] })).toEqual(closed("hooks"));
    expect(await verdictOn(RUN, entries, { allow: ["hooks"] })).toEqual(quietly("hooks"));
  });

  test("in a session that it names is checked by its jobs", async () => {
    const session = "agent:main:weekly";
    const entries = { [session]: { createdVia: "cron", createdActor: { type: "system" } } };
    expect(await verdictOn(session, entries)).toEqual(closed("unknown_origin"));
    const job = { id: JOB, sessionTarget: "session:weekly", scheduledToolPolicy: TRUSTED };
    scheduling(job);
    expect(await verdictOn(session, entries)).toEqual(OPEN);
    scheduling(job, { id: "2", sessionTarget: `session:${session}`, owner: { sessionKey: GROUP } });
    expect(await verdictOn(session, entries)).toEqual(closed("groups"));
    scheduling(job, { id: "2", sessionTarget: "session:weekly" });
    expect(await verdictOn(session, entries)).toEqual(closed("unknown_origin"));
  });

  test("that reports to a group is checked by its creator", async () => {
    const entries = { [RUN]: { ...stamped(TRUSTED), chatType: "channel", groupId: "C1" } };
    expect(await verdictOn(RUN, entries)).toEqual(OPEN);
  });

  test("passes its origin on to its sub-agents", async () => {
    const entries = (policy: object) => ({ [CHILD]: spawned(RUN), [RUN]: stamped(policy) });
    expect(await verdictOn(CHILD, entries(TRUSTED))).toEqual(OPEN);
    expect(await verdictOn(CHILD, entries(byAccount(GROUP)))).toEqual(closed("groups"));
  });
});

// verifies P-alone-closed-contexts
test("no chain that begins in a group gets access, however the records are linked", async () => {
  const keys = [CHILD, ACP, RUN, "agent:main:dashboard:d1", "agent:main:named", MAIN, DIRECT, GROUP];
  const link = fc.constantFrom(...keys, undefined);
  const entry = fc.record({ spawnedBy: link, parentSessionKey: link, completionOwnerSessionKey: link });
  const linked = fc.tuple(...keys.map(() => entry));
  await fc.assert(
    fc.asyncProperty(linked, async (made) => {
      const entries: Entries = Object.fromEntries(keys.map((key, at) => [key, made[at] ?? {}]));
      const verdict = await verdictOn(CHILD, entries);
      if (!verdict.ok) return;
      const { spawnedBy, parentSessionKey, completionOwnerSessionKey } = made[0] ?? {};
      const parents = [spawnedBy, parentSessionKey, completionOwnerSessionKey].filter(
        (key) => key !== undefined,
      );
      expect(parents.length).toBeGreaterThan(0);
      for (const parent of parents) {
        expect(await verdictOn(parent, entries)).toMatchObject({ ok: true });
      }
    }),
    { numRuns: 500 },
  );
});

test("the plugin detects whether a host has session records, even if its runtime throws", () => {
  expect(tellsOrigins(apiOver(() => undefined))).toBe(true);
  expect(tellsOrigins(apiOver(undefined))).toBe(false);
  expect(tellsOrigins({ runtime: TRAP } as never)).toBe(false);
});
