/** The shared gateway, as a test file uses it. */
import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { inject } from "vitest";
import { type Json, type JsonObject, OpenClawClient, type ToolReply } from "../../scripts/openclaw-host.ts";

/** A client of the gateway that setup.ts started. Its commands end with the test that waits for them. */
export function sharedOpenClaw(): OpenClawClient {
  return new OpenClawClient(inject("sharedHome"), {
    spawn: (command: string, args: readonly string[], options: SpawnOptions): ChildProcess =>
      spawn(command, args, options),
  });
}

export interface Hit {
  readonly corpus: string;
  readonly path: string;
  readonly score: number;
  readonly snippet: string;
}

/** The hits of a memory_search reply, as the caller sees them. */
export function hitsOf(reply: ToolReply): readonly Hit[] {
  const { results } = reply.details;
  if (!Array.isArray(results)) throw new Error(`memory_search gave no results: ${JSON.stringify(reply)}`);
  return results as unknown as readonly Hit[]; // each field that a test reads is compared with what it must be
}

export function pathsOf(reply: ToolReply, corpus: string): readonly string[] {
  return hitsOf(reply)
    .filter((hit) => hit.corpus === corpus)
    .map((hit) => hit.path);
}

/** The member of a JSON object, or undefined for anything else. */
export function member(value: Json | undefined, name: string): Json | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return (value as JsonObject)[name]; // neither null nor an array
}
