import { describe, expect, test } from "vitest";
import type { HostConfig } from "../../plugin/host.ts";
import { knownAgents, liveConfig, makeGatekeeper } from "../../plugin/who.ts";
import { configOf, gateFor, MAIN } from "./fake-host.ts";

const CALLER = { agentId: "main", agentSessionKey: "agent:main:main" };

describe("which agents are known", () => {
  test("none are listed: nobody can be unknown", () => {
    expect(knownAgents({})).toBeUndefined();
    expect(knownAgents({ agents: {} })).toBeUndefined();
    expect(gateFor().verdict({ agentId: "nosuch", agentSessionKey: "agent:nosuch:main" })).toMatchObject({
      ok: true,
    });
  });

  test("listed by id, and in the older list", () => {
    expect(knownAgents({ agents: { entries: { Main: {}, work: {} } } })).toEqual(new Set(["main", "work"]));
    const older = { agents: { list: [{ id: "main" }, null, { id: "Work" }] } };
    // The host's type no longer has the older shape.
    expect(knownAgents(older as never)).toEqual(new Set(["main", "", "work"]));
  });

  test("an agent that is removed loses access at once", () => {
    let host: HostConfig = { agents: { entries: { main: {}, work: {} } } };
    const gate = makeGatekeeper(configOf(), () => host);
    const caller = { agentId: "work", agentSessionKey: "agent:work:main" };
    expect(gate.verdict(caller)).toMatchObject({ ok: true });
    host = { agents: { entries: { main: {} } } };
    expect(gate.verdict(caller)).toEqual({ ok: false, reason: "unknown_agent" });
  });
});

describe("where the host does not say whether a run is sandboxed", () => {
  const verdictUnder = (host: object, agentSessionKey = "agent:main:main") =>
    gateFor({}, host).verdictWithoutSandboxFlag({ agentId: "main", agentSessionKey });
  const CLOSED = { ok: false, reason: "sandboxed" };

  test.each([
    ["no sandbox", {}],
    ["sandbox off", { agents: { defaults: { sandbox: { mode: "off" } } } }],
    [
      "sandbox off for this agent",
      { agents: { defaults: { sandbox: { mode: "all" } }, entries: { main: { sandbox: { mode: "off" } } } } },
    ],
    ["everything but the main session", { agents: { defaults: { sandbox: { mode: "non-main" } } } }],
  ])("%s leaves the main session open", (_, host) => {
    expect(verdictUnder(host)).toMatchObject({ ok: true });
  });

  test("all sessions sandboxed closes all", () => {
    expect(verdictUnder({ agents: { defaults: { sandbox: { mode: "all" } } } })).toEqual(CLOSED);
  });

  test("this agent sandboxed closes it, whatever its name's case", () => {
    expect(verdictUnder({ agents: { entries: { Main: { sandbox: { mode: "all" } } } } })).toEqual(CLOSED);
  });

  test("everything but the main session closes a sub-agent", () => {
    const host = { agents: { defaults: { sandbox: { mode: "non-main" } } } };
    expect(verdictUnder(host, "agent:main:subagent:1")).toEqual(CLOSED);
  });

  test("what the host last said of the session counts more than the configuration", () => {
    const gate = gateFor({}, {});
    gate.verdict({ ...CALLER, sandboxed: true });
    expect(gate.verdictWithoutSandboxFlag(CALLER)).toEqual(CLOSED);
    gate.verdict({ ...CALLER, sandboxed: false });
    expect(gate.verdictWithoutSandboxFlag(CALLER)).toMatchObject({ ok: true });
  });

  test("what was said of very many sessions is forgotten, not kept for ever", () => {
    const gate = gateFor({}, {});
    gate.verdict({ ...CALLER, sandboxed: true });
    for (let index = 0; index < 1_000; index += 1) {
      gate.verdict({ ...MAIN, agentSessionKey: `agent:main:subagent:${index}` });
    }
    expect(gate.verdictWithoutSandboxFlag(CALLER)).toMatchObject({ ok: true });
  });
});

test("the host's configuration is read anew, and that of registration time where the runtime cannot be asked", () => {
  // Below: only the two fields that are read.
  const older = { session: { mainKey: "old" } };
  const newer = { session: { mainKey: "new" } };
  const runtime = { config: { current: () => newer } };
  expect(liveConfig({ config: older, runtime } as never)()).toBe(newer);
  const trap = new Proxy(
    {},
    {
      get: () => {
        throw new Error("not in this mode");
      },
    },
  );
  expect(liveConfig({ config: older, runtime: trap } as never)()).toBe(older);
});
