/** The messages between the main thread and the memory worker. Small, since the gateway's main thread loads it. */

import type { RecallMode } from "../../engine/answer-limits.ts";
import { type ErrorCode, type ErrorDetails, HelmdeckError } from "../../engine/errors.ts";
import type { Subject } from "../../engine/store/namespace.ts";
import type { EmbeddingSettings } from "../embedding/embedding-settings.ts";
import type { UseCase } from "../memory.ts";

/** The worker's `workerData`: it may hold keys, so it is never passed in arguments or the environment. */
export interface WorkerStart {
  readonly databasePath: string;
  readonly keyPath: string;
  readonly configuredKey?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly sweepEveryMs?: number;
  readonly embeddings: EmbeddingSettings;
  readonly recall?: RecallMode;
  readonly lifetimeDays?: number;
}

/** Errors are sent as data: structured cloning would drop class, code and details. */
export type WireAnswer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: WireError };

export interface WireError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details: ErrorDetails;
}

/** The worker's side of the channel. */
export interface WorkerFunctions {
  call(method: UseCase, args: readonly unknown[]): Promise<WireAnswer>;
}

/** The main thread's side, for a memory in another process: it resolves secrets. */
export interface HostFunctions {
  tokenOf(agent: Subject, how: { readonly refused: boolean }): Promise<WireAnswer>;
}

export function toWire({ code, message, details }: HelmdeckError): WireError {
  return { code, message, details };
}

export function fromWire({ code, message, details }: WireError): HelmdeckError {
  return new HelmdeckError(code, message, { details });
}
