/** A run that failed and has something to show for it all the same: its findings go into the audit row, as those of any run do. */
import { type ErrorCode, type ErrorDetails, HelmdeckError } from "../../engine/index.ts";

interface FailureOptions {
  readonly code?: ErrorCode;
  readonly details?: ErrorDetails;
}

export class PackFailure extends HelmdeckError {
  /** Out of reach of whatever logs or shows an error. */
  readonly #output: unknown;

  /** `output`: what the pack would have answered, such as `{ lint: { findings } }`. */
  constructor(message: string, output: unknown, { code = "pack_failed", details = {} }: FailureOptions = {}) {
    super(code, message, { details });
    this.#output = output;
  }

  static outputOf(error: HelmdeckError): unknown {
    return error instanceof PackFailure ? error.#output : undefined;
  }
}
