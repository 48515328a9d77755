/**
 * The rule for subjects, wherever one is given, and the only namespace that a use case may access for one.
 *
 * A subject comes from a host, a token, a file or a command line. Two of them must not look alike, and each must fit on one line of
 * the list of revoked tokens. Two different subjects must never share a namespace: text with half a surrogate pair would be written
 * to disk as another text and is refused, and so is text that is too long.
 */
import { HelmdeckError, invalidField } from "../engine/errors.ts";
import { problemOfName } from "../engine/facts/hostile-text.ts";
import { type Namespace, namespaceOf, type Subject } from "../engine/store/namespace.ts";

const SUBJECT_BYTES = 512;

/** Whether somebody may name a subject like this. */
export function isSubject(given: unknown): given is Subject {
  return (
    typeof given === "string" &&
    given !== "" &&
    given.trim() === given &&
    Buffer.byteLength(given) <= SUBJECT_BYTES &&
    problemOfName(given) === undefined
  );
}

/** Throws `invalid_input`. */
export function requireSubject(given: unknown): Subject {
  if (isSubject(given)) return given;
  const rule = "of text without control or invisible characters, and without spaces at its ends";
  throw invalidField("subject", `must be 1 to ${SUBJECT_BYTES} bytes ${rule}`);
}

/** Throws `identity_refused` when a store could confuse the subject with another. Also takes names that an earlier version took. */
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
