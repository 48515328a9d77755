/** A failed run with output: its findings go into the audit row, as for any run. */
import { type ErrorCode, type ErrorDetails, HelmdeckError } from "../../engine/errors.ts";

interface FailureOptions {
  readonly code?: ErrorCode;
  readonly details?: ErrorDetails;
}

export class PackFailure extends HelmdeckError {
  /** Not enumerable, so that logging or showing the error does not include it. */
  readonly #output: unknown;

  /** `output`: the output so far, such as `{ lint: { findings } }`. */
  constructor(message: string, output: unknown, { code = "pack_failed", details = {} }: FailureOptions = {}) {
    super(code, message, { details });
    this.#output = output;
  }

  static outputOf(error: HelmdeckError): unknown {
    return error instanceof PackFailure ? error.#output : undefined;
  }
}
