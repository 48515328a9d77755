/** Expiry and limits of page sessions, with a test clock. */
import { inspect } from "node:util";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Caller } from "../../server/caller.ts";
import { PAGE_SESSION_LIMITS, PageSessions } from "../../server/pages/page-sessions.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NEVER = Number.MAX_SAFE_INTEGER;
const alice: Caller = { subject: "alice", authenticated: true, scopes: [] };
const accepted = async () => true;

let now: number;
let sessions: PageSessions;
beforeEach(() => {
  now = Date.UTC(2026, 10, 20, 12);
  sessions = new PageSessions({ ...PAGE_SESSION_LIMITS, perCaller: 3, total: 5 }, () => now);
});

// verifies P-alone-pages
describe("a page session", () => {
  it("is found only by its id, which cannot be guessed", () => {
    const ids = Array.from({ length: 3 }, () => sessions.open(alice, NEVER, accepted));
    expect(new Set(ids).size).toBe(3);
    for (const id of ids) expect(Buffer.from(id, "base64url")).toHaveLength(32);
    expect(sessions.find(ids[0] ?? "")?.caller).toEqual(alice);
    for (const other of ["", "alice", `${ids[0]} `, ids[0]?.toUpperCase() ?? ""]) {
      expect(sessions.find(other)).toBeUndefined();
    }
  });

  it("is not stored under its id, which no part of the process holds", () => {
    const set = vi.spyOn(Map.prototype, "set");
    const id = sessions.open(alice, NEVER, accepted);
    sessions.find(id);
    const kept = set.mock.calls.map((call) => inspect(call, { depth: null }));
    set.mockRestore();
    expect(kept.filter((call) => call.includes("alice"))).toHaveLength(2);
    expect(kept.join()).not.toContain(id);
  });

  it("has its own form token, which is not its id", () => {
    const [first, second] = [sessions.open(alice, NEVER, accepted), sessions.open(alice, NEVER, accepted)];
    const [one, other] = [sessions.find(first)?.formToken, sessions.find(second)?.formToken];
    expect(new Set([one, other, first, second]).size).toBe(4);
    expect(Buffer.from(one ?? "", "base64url")).toHaveLength(32);
  });

  it("ends after an hour without requests, and not before", () => {
    const id = sessions.open(alice, NEVER, accepted);
    now += HOUR - 1;
    expect(sessions.find(id)).toBeDefined();
    now += HOUR - 1;
    expect(sessions.find(id)).toBeDefined();
    now += HOUR;
    expect(sessions.find(id)).toBeUndefined();
    now -= HOUR;
    expect(sessions.find(id)).toBeUndefined(); // it stays expired, even if the clock goes back
  });

  it("ends after twelve hours, even if it is in use", () => {
    const id = sessions.open(alice, NEVER, accepted);
    for (let asked = 0; asked < 23; asked += 1) {
      now += 30 * MINUTE;
      expect(sessions.find(id)).toBeDefined();
    }
    now += 30 * MINUTE;
    expect(sessions.find(id)).toBeUndefined();
  });

  it("ends with the token that opened it", () => {
    const id = sessions.open(alice, now + 10 * MINUTE, accepted);
    now += 10 * MINUTE - 1;
    expect(sessions.find(id)).toBeDefined();
    now += 1;
    expect(sessions.find(id)).toBeUndefined();
  });

  it("can be ended at once without ending another", () => {
    const [first, second] = [sessions.open(alice, NEVER, accepted), sessions.open(alice, NEVER, accepted)];
    sessions.end(first);
    expect(sessions.find(first)).toBeUndefined();
    expect(sessions.find(second)).toBeDefined();
  });
});

describe("page sessions", () => {
  it("are limited in total, and the least recently used one ends", () => {
    const ids = ["a", "b", "c", "d", "e", "f"].map((subject) =>
      sessions.open({ ...alice, subject }, NEVER, accepted),
    );
    expect(ids.map((id) => sessions.find(id) !== undefined)).toEqual([false, true, true, true, true, true]);
  });

  it("are removed if expired before any that is not", () => {
    const ids = ["a", "b", "c", "d"].map((subject) => sessions.open({ ...alice, subject }, NEVER, accepted));
    sessions.open({ ...alice, subject: "short" }, now + MINUTE, accepted);
    now += MINUTE;
    sessions.open({ ...alice, subject: "new" }, NEVER, accepted);
    expect(ids.map((id) => sessions.find(id) !== undefined)).toEqual([true, true, true, true]);
  });
});
