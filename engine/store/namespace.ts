/** Who memory belongs to: a subject's namespace, or one session of it, joined so that no two pairs collide. */

declare const namespaceBrand: unique symbol;

/** The owner of entries, as the host vouches for it (an agent id, a token's `sub`, the operator's `--caller`). */
export type Subject = string;

/** A subject's namespace, or that of one of its sessions. Made only by {@link namespaceOf}. */
export type Namespace = string & { readonly [namespaceBrand]: true };

/** The subject of a caller that has no name. */
export const UNKNOWN_SUBJECT: Subject = "unknown";

/**
 * The namespace of a subject, or of one session of it.
 *
 * Parts are joined by ":"; a "%" or ":" inside a part is written "%25" or "%3A", so `("a:b")` and `("a", "b")` differ.
 * (helmdeck joins them unescaped: facts/helmdeck.md, fault 15.)
 */
export function namespaceOf(subject: Subject | undefined, sessionId?: string): Namespace {
  const owner = escapePart(subject === undefined || subject === "" ? UNKNOWN_SUBJECT : subject);
  const joined = sessionId === undefined ? owner : `${owner}:${escapePart(sessionId)}`;
  return joined as Namespace; // the one place that makes the brand
}

/** Whose namespace this is, also when it is a session's. The way back from {@link namespaceOf}. */
export function subjectOf(namespace: Namespace): Subject {
  return ownerOf(namespace).replaceAll("%3A", ":").replaceAll("%25", "%");
}

/** The namespace of the subject itself, also of a session's. */
export function ownerOf(namespace: Namespace): Namespace {
  const [owner = ""] = namespace.split(":", 1);
  return owner as Namespace; // what namespaceOf gives for the subject alone
}

/** The prefix that the namespaces of all sessions of a subject share, and no other namespace has. */
export function sessionPrefixOf(namespace: Namespace): string {
  return `${namespace}:`;
}

/** Whether this is the namespace that is meant, or with sessions, one of its sessions'. */
export function isWithin(
  namespace: Namespace,
  meant: { readonly namespace: Namespace; readonly includeSessions?: boolean },
): boolean {
  if (namespace === meant.namespace) return true;
  return meant.includeSessions === true && namespace.startsWith(sessionPrefixOf(meant.namespace));
}

function escapePart(part: string): string {
  return part.replaceAll("%", "%25").replaceAll(":", "%3A");
}
