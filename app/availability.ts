/** Whether a store answers, or has room: tells once when that is lost and once when it is back, and asks by itself meanwhile. */

import { HelmdeckError, isHelmdeckError } from "../engine/errors.ts";
import { backgroundTimer, type Timer } from "../engine/timing.ts";

export interface AvailabilityOptions {
  /** The reason, or undefined when the store is back. */
  readonly onChange: (lost: HelmdeckError | undefined) => void;
  readonly timer?: Timer;
}

export class Availability {
  readonly #options: AvailabilityOptions;
  readonly #everyMs: number;
  readonly #ask: () => Promise<unknown>;
  #cancel: (() => void) | undefined;
  isLost = false;
  losses = 0;

  /** @param ask a cheap call, whose outcome is noted like that of every other one */
  constructor(options: AvailabilityOptions, everyMs: number, ask: () => Promise<unknown>) {
    this.#options = options;
    this.#everyMs = everyMs;
    this.#ask = ask;
  }

  noteLoss(reason: HelmdeckError): void {
    if (this.isLost) return;
    this.beginLost();
    this.#options.onChange(reason);
  }

  /** It did not open at the start, and whoever opened it tells that. */
  beginLost(): void {
    this.isLost = true;
    this.losses += 1;
    this.#askLater();
  }

  noteAnswer(): void {
    if (!this.isLost) return;
    this.close();
    this.#options.onChange(undefined);
  }

  close(): void {
    this.isLost = false;
    this.#cancel?.();
  }

  #askLater(): void {
    const { timer = backgroundTimer } = this.#options;
    this.#cancel?.();
    this.#cancel = timer(() => {
      this.#ask()
        .catch(() => undefined) // noted
        .finally(() => this.isLost && this.#askLater());
    }, this.#everyMs);
  }
}

/** The error for a server's callers while the store has not opened, or does not answer. */
export function unavailable(error: HelmdeckError, hasOpened: boolean): HelmdeckError {
  if (hasOpened && error.code !== "store_unavailable") return error;
  return new HelmdeckError(
    "memory_unavailable",
    `Memory is not available: ${error.message} (${error.code})`,
    {
      details: { ...error.details, reason: error.code },
      cause: error,
    },
  );
}

/** What {@link unavailable} was made from, for operators; any other error unchanged. */
export function reasonOf(error: unknown): unknown {
  return isHelmdeckError(error, "memory_unavailable") && isHelmdeckError(error.cause) ? error.cause : error;
}
