/** The status of a served engine, and of the memory behind a token. */

import { defined } from "../../../engine/defined.ts";
import { asHelmdeckError, HelmdeckError } from "../../../engine/errors.ts";
import type { Subject } from "../../../engine/store/namespace.ts";
import { systemClock } from "../../../engine/timing.ts";
import type { EngineStatus, MemoryStatus } from "../../memory.ts";
import {
  callerReplySchema,
  ownStatusReplySchema,
  readinessReplySchema,
  versionReplySchema,
} from "../../wire/schemas.ts";
import type { EngineClient } from "./engine-client.ts";

const CALLER = { path: "/api/v1/caller", answers: callerReplySchema } as const;
/** Responds with the reason when memory does not work. */
const READY = { path: "/readyz", answers: readinessReplySchema, alsoOn: 503 } as const;
const VERSION = { path: "/version", answers: versionReplySchema } as const;
const OWN_STATUS = { path: "/api/v1/memory/status", answers: ownStatusReplySchema } as const;

/** Never rejects. Without a subject, tries every token, so that health detects a rejected one. */
export async function engineStatus(
  client: EngineClient,
  subjects: readonly Subject[],
  subject: Subject | undefined,
): Promise<MemoryStatus> {
  const began = systemClock.now();
  const took = () => Math.round(systemClock.now() - began);
  try {
    const { version, tookMs } = await reachEngine(client);
    const engine = { url: client.url, version, tookMs };
    if (subject !== undefined) {
      const [caller, status] = await Promise.all([
        askCaller(client, subject),
        client.call(subject, OWN_STATUS),
      ]);
      const { mode, facts, auditRows, expiring, ended } = status;
      return {
        ...NOT_HERE,
        state: "ready",
        engine,
        mode,
        subject: { name: caller.subject, facts, auditRows, ...defined({ expiring, ended }) },
      };
    }
    await Promise.all(subjects.map((one) => askCaller(client, one)));
    return { ...NOT_HERE, state: "ready", engine, mode: "keyword" };
  } catch (thrown) {
    const { code, message } = asHelmdeckError(thrown);
    const engine = { url: client.url, tookMs: took() };
    return { ...NOT_HERE, state: "failed", engine, mode: "keyword", error: { code, message } };
  }
}

/** The engine responds, and its memory works. */
export async function reachEngine(
  client: EngineClient,
): Promise<EngineStatus & { readonly version: string }> {
  const began = systemClock.now();
  const { status, error = "memory_unavailable" } = await client.ask(READY);
  const tookMs = Math.round(systemClock.now() - began);
  if (status !== "ready") {
    const message = `The engine at ${client.url} is running, but its memory does not work (${error}); run doctor there.`;
    throw new HelmdeckError("memory_unavailable", message);
  }
  return { url: client.url, version: (await client.ask(VERSION)).version, tookMs };
}

/** The engine's view of a token: its subject and rights. */
export function askCaller(client: EngineClient, subject: Subject) {
  return client.call(subject, CALLER);
}

/** Shown because there is no local database or key. */
const NOT_HERE = { databasePath: "at the engine", keySource: "at the engine", driver: "engine" } as const;
