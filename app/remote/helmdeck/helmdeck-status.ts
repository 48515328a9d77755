/** The status of a running helmdeck, and how much of an agent's memory is known here. */
import { asHelmdeckError } from "../../../engine/errors.ts";
import { harmlessLine } from "../../../engine/facts/hostile-text.ts";
import type { Subject } from "../../../engine/store/namespace.ts";
import { systemClock } from "../../../engine/timing.ts";
import type { EngineStatus, MemoryStatus } from "../../memory.ts";
import type { EngineClient } from "../engine/engine-client.ts";
import { VERSION } from "./helmdeck-rest.ts";
import type { Extent } from "./known-rows.ts";

export interface HelmdeckStatusParts {
  readonly rest: EngineClient;
  /** The outcome of the last request for a memory. */
  readonly lastFailure: unknown;
  readonly freshen: (agent: Subject) => Promise<Extent>;
  readonly counts: (
    agent: Subject,
  ) => Promise<Pick<NonNullable<MemoryStatus["subject"]>, "facts" | "auditRows">>;
}

const THERE = {
  databasePath: "at helmdeck",
  keySource: "at helmdeck",
  driver: "helmdeck",
  mode: "keyword",
} as const;

/**
 * Never rejects. Without an agent, only requests the open routes, which helmdeck does not record: health checks are frequent, and
 * an unused memory must not be polled.
 */
export async function helmdeckStatus(parts: HelmdeckStatusParts, agent?: Subject): Promise<MemoryStatus> {
  const { rest, freshen, counts } = parts;
  const began = systemClock.now();
  try {
    const engine = await reachHelmdeck(rest);
    if (agent === undefined) {
      if (parts.lastFailure !== undefined) throw parts.lastFailure;
      return { ...THERE, state: "ready", engine };
    }
    const extent = await freshen(agent);
    const { subject, ...held } = extent;
    return {
      ...{ ...THERE, state: "ready", engine: { ...engine, held } },
      subject: { name: harmlessLine(subject), ...(await counts(agent)) },
    };
  } catch (thrown) {
    const { code, message } = asHelmdeckError(thrown);
    const tookMs = Math.round(systemClock.now() - began);
    const engine = { url: rest.url, kind: "helmdeck", tookMs } as const;
    return { ...THERE, state: "failed", engine, error: { code, message } };
  }
}

export async function reachHelmdeck(
  rest: EngineClient,
): Promise<EngineStatus & { readonly version: string }> {
  const began = systemClock.now();
  const { version } = await rest.ask(VERSION);
  return { url: rest.url, kind: "helmdeck", version, tookMs: Math.round(systemClock.now() - began) };
}
