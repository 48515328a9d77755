/** Namespaces: one per subject and one per session, encoded without collisions. */

declare const namespaceBrand: unique symbol;

/** The owner of entries, as vouched for by the host (an agent id, a token's `sub`, the operator's `--caller`). */
export type Subject = string;

/** The namespace of a subject or of one of its sessions. Created only by {@link namespaceOf}. */
export type Namespace = string & { readonly [namespaceBrand]: true };

/** The subject of a caller without a name. */
export const UNKNOWN_SUBJECT: Subject = "unknown";

/**
 * The namespace of a subject, or of one of its sessions.
 *
 * Parts are joined by ":". Within a part, "%" and ":" are written "%25" and "%3A", so that `("a:b")` and `("a", "b")` differ; NUL,
 * at which SQL's functions of text stop, is written "%00".
 * helmdeck joins them unescaped.
 */
export function namespaceOf(subject: Subject | undefined, sessionId?: string): Namespace {
  const owner = escapePart(subject === undefined || subject === "" ? UNKNOWN_SUBJECT : subject);
  const joined = sessionId === undefined ? owner : `${owner}:${escapePart(sessionId)}`;
  return joined as Namespace; // the only place that brands a namespace
}

/** The subject of a namespace or session namespace; the inverse of {@link namespaceOf}. */
export function subjectOf(namespace: Namespace): Subject {
  return ownerOf(namespace).replaceAll("%00", "\0").replaceAll("%3A", ":").replaceAll("%25", "%");
}

/** The subject's own namespace, also for a session's. */
export function ownerOf(namespace: Namespace): Namespace {
  const [owner = ""] = namespace.split(":", 1);
  return owner as Namespace; // what namespaceOf returns for the subject alone
}

/** The prefix that a subject's session namespaces share, and no other namespace has. */
export function sessionPrefixOf(namespace: Namespace): string {
  return `${namespace}:`;
}

/** Whether this is the given namespace or, with sessions, one of its session namespaces. */
export function isWithin(
  namespace: Namespace,
  meant: { readonly namespace: Namespace; readonly includeSessions?: boolean },
): boolean {
  if (namespace === meant.namespace) return true;
  return meant.includeSessions === true && namespace.startsWith(sessionPrefixOf(meant.namespace));
}

function escapePart(part: string): string {
  return part.replaceAll("%", "%25").replaceAll(":", "%3A").replaceAll("\0", "%00");
}
