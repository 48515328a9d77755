/** A fake host for unit tests. test/gateway runs the real host. */

import { expect } from "vitest";
import { type AccessPolicy, makeAccessPolicy } from "../../plugin/access-policy.ts";
import { type PluginConfig, parseConfig } from "../../plugin/config.ts";
import type { HostConfig, Logger } from "../../plugin/openclaw-api.ts";
import type { ReadRecord } from "../../plugin/session-record.ts";

/** Throws whenever a field is read. */
export const TRAP: object = new Proxy(
  {},
  {
    get: () => {
      throw new Error("not in this mode");
    },
  },
);

export interface RecordingLogger extends Logger {
  readonly lines: readonly string[];
}

export function recordingLogger(): RecordingLogger {
  const lines: string[] = [];
  const note = (message: string) => void lines.push(message);
  return { lines, debug: note, info: note, warn: note, error: note };
}

export interface FakeHost {
  readonly config?: HostConfig;
  readonly configNow?: () => HostConfig;
  readonly readRecord?: ReadRecord;
  readonly log?: Logger;
  readonly originDeadlineMs?: number;
}

/** An access policy with a host that has no record of any session, unless a test says otherwise. */
export function policyFor(config: unknown = {}, host: FakeHost = {}): AccessPolicy {
  return makeAccessPolicy({
    readRecord: async () => undefined,
    log: recordingLogger(),
    ...host,
    config: parseConfig(config),
    hostConfig: host.configNow ?? (() => host.config ?? {}),
  });
}

export function configOf(raw: unknown = {}): PluginConfig {
  return parseConfig(raw);
}

/** The main session of the agent "main", as the host reports it. */
export const MAIN = { agentId: "main", agentSessionKey: "agent:main:main", sandboxed: false } as const;
/** The same session in the context of tools and hooks. */
export const MAIN_CONTEXT = { agentId: "main", sessionKey: "agent:main:main", sandboxed: false } as const;
export const GROUP_CONTEXT = { agentId: "main", sessionKey: "agent:main:telegram:group:-100" } as const;
/** OpenClaw's context for a turn that a person wrote in its Control UI. */
export const AT_A_SCREEN = { ...MAIN_CONTEXT, requester: { channel: "webchat", senderIsOwner: true } };
export const ASKED = { requireApproval: { severity: "critical", allowedDecisions: ["allow-once", "deny"] } };
export const refused = (reason: RegExp) => ({ block: true, blockReason: expect.stringMatching(reason) });

export const sandboxing = (mode: "all" | "non-main") => ({ agents: { defaults: { sandbox: { mode } } } });
