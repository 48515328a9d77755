/**
 * Maps a caller to the only namespace that a use case may access.
 *
 * A subject comes from a host, a token or a command line. Two different subjects must never share a namespace: text with half a
 * surrogate pair would be written to disk as another text and is refused, and so is text that is too long.
 */
import { HelmdeckError } from "../engine/errors.ts";
import { type Namespace, namespaceOf, type Subject } from "../engine/store/namespace.ts";

const SUBJECT_BYTES = 512;

/** Throws `identity_refused` when a store could confuse the subject with another. */
export function requireNamespace(subject: Subject): Namespace {
  const given: unknown = subject;
  if (typeof given !== "string" || !given.isWellFormed() || Buffer.byteLength(given) > SUBJECT_BYTES) {
    throw new HelmdeckError(
      "identity_refused",
      `The subject is invalid: it must be valid Unicode of at most ${SUBJECT_BYTES} bytes.`,
    );
  }
  return namespaceOf(given);
}
