/**
 * From who is asking to the namespace that all of a use case stays in.
 *
 * A subject comes from a host, a token or a command line. Two different ones must never meet in one namespace: text with
 * half a surrogate pair would be written to disk as another text, and is refused, as is what is too long to be kept.
 */
import { HelmdeckError, type Namespace, namespaceOf, type Subject } from "../engine/index.ts";

const SUBJECT_BYTES = 512;

/** Throws `identity_refused` when the subject is no text that a store can keep apart from every other. */
export function requireNamespace(subject: Subject): Namespace {
  const given: unknown = subject;
  if (typeof given !== "string" || !given.isWellFormed() || Buffer.byteLength(given) > SUBJECT_BYTES) {
    throw new HelmdeckError(
      "identity_refused",
      `Whose memory is meant is not clear: a subject is Unicode text of at most ${SUBJECT_BYTES} bytes.`,
    );
  }
  return namespaceOf(given);
}
