/** The plugin's configuration, read from what the host hands over: typed, with defaults, never throwing. */

/** Contexts that are closed until the operator opens them. */
export const CLOSED_CONTEXTS = ["groups", "hooks", "sandboxed"] as const;
export type ClosedContext = (typeof CLOSED_CONTEXTS)[number];

export interface PluginConfig {
  /** A string, or a reference to a secret that still has to be resolved (plugin/secret.ts). */
  readonly encryptionKey: unknown;
  readonly databasePath: string | undefined;
  readonly searchByDefault: boolean;
  readonly promptHints: boolean;
  /** By agent id in lower case. `undefined` as a value: the entry is malformed, and that agent gets no memory. */
  readonly subjects: ReadonlyMap<string, string | undefined>;
  readonly allow: ReadonlySet<ClosedContext>;
  readonly auditServers: readonly string[];
}

const DEFAULT_AUDIT_SERVERS: readonly string[] = ["helmdeck"];
const SUBJECT_MAX_CHARS = 128;

/**
 * Reads `plugins.entries.helmdeck-memory.config`. The host has checked it against the schema of openclaw.plugin.json, so
 * what is malformed here came by another way: it gets the default or, where access depends on it, closes.
 */
export function parseConfig(raw: unknown): PluginConfig {
  const given = asRecord(raw);
  return {
    encryptionKey: given.encryptionKey ?? undefined,
    databasePath: typeof given.databasePath === "string" ? given.databasePath : undefined,
    searchByDefault: given.searchByDefault !== false,
    promptHints: given.promptHints !== false,
    subjects: readSubjects(given.subjects),
    allow: new Set(CLOSED_CONTEXTS.filter((context) => strings(given.allow).includes(context))),
    auditServers: given.auditServers === undefined ? DEFAULT_AUDIT_SERVERS : strings(given.auditServers),
  };
}

function readSubjects(raw: unknown): PluginConfig["subjects"] {
  return new Map(
    Object.entries(asRecord(raw)).map(([agentId, subject]) => [
      agentId.trim().toLowerCase(),
      isSubject(subject) ? subject.trim() : undefined,
    ]),
  );
}

function isSubject(subject: unknown): subject is string {
  return (
    typeof subject === "string" &&
    subject.trim() !== "" &&
    subject.length <= SUBJECT_MAX_CHARS &&
    subject.isWellFormed() &&
    !/\p{Cc}/u.test(subject)
  );
}

function strings(raw: unknown): readonly string[] {
  return Array.isArray(raw) ? raw.filter((item) => typeof item === "string") : [];
}

function asRecord(raw: unknown): Readonly<Record<string, unknown>> {
  return typeof raw === "object" && raw !== null && !Array.isArray(raw) ? { ...raw } : {};
}
