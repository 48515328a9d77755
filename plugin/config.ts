/** The plugin's configuration, read from what the host hands over: typed, with defaults, never throwing. */
import {
  defined,
  type EmbeddingSettings,
  type EngineSettings,
  embeddingSettingsOf,
  RECALL_MODES,
  type RecallMode,
} from "../app/index.ts";

/** Contexts that are closed until the operator opens them. */
export const CLOSED_CONTEXTS = ["groups", "hooks", "sandboxed"] as const;
export type ClosedContext = (typeof CLOSED_CONTEXTS)[number];

/** Whose tools leave a record: those of the helmdeck servers, or all. */
type AuditTools = "helmdeck" | "all";

export interface PluginConfig {
  /** Who keeps memory. */
  readonly source: SourceConfig;
  /** A string, or a reference to a secret that still has to be resolved (plugin/resolve-secret.ts). */
  readonly encryptionKey: unknown;
  readonly databasePath: string | undefined;
  readonly searchByDefault: boolean;
  readonly promptHints: boolean;
  /** The tab in OpenClaw's Control UI. */
  readonly pages: boolean;
  /** In groups and hooks that were opened it is quiet, whatever stands here. */
  readonly recall: RecallMode;
  /** What an agent reads whole lives on, where its life is the default one. */
  readonly renewOnUse: boolean;
  readonly embeddings: EmbeddingsConfig;
  /** By agent id in lower case. `undefined` as a value: the entry is malformed, and that agent gets no memory. */
  readonly subjects: ReadonlyMap<string, string | undefined>;
  readonly allow: ReadonlySet<ClosedContext>;
  readonly auditServers: readonly string[];
  readonly auditTools: AuditTools;
  /** Never recorded. Names in lower case; one that ends in "*" stands for every name that begins so. */
  readonly auditDeny: readonly string[];
  /** By a tool's name in lower case: the inputs that may be kept. */
  readonly auditInputs: ReadonlyMap<string, readonly string[]>;
}

/** This host, an engine that is served elsewhere, or a running helmdeck. */
type SourceConfig = { readonly kind: "embedded" } | EngineSourceConfig | HelmdeckSourceConfig;

/** Has the token of OpenClaw's own entry for helmdeck, where it has none of its own. */
export const MCP_ENTRY_AGENT = "main";

export interface HelmdeckSourceConfig extends Omit<EngineSourceConfig, "kind"> {
  readonly kind: "helmdeck";
}

export interface EngineSourceConfig {
  readonly kind: "engine";
  readonly settings: EngineSettings;
  /** By agent id in lower case: a file, or a reference that still has to be resolved; never a token itself. */
  readonly tokens: ReadonlyMap<string, unknown>;
}

/** As memory takes them, but for the key: a string, or a reference that still has to be resolved. */
export interface EmbeddingsConfig {
  readonly settings: EmbeddingSettings;
  readonly apiKey: unknown;
}

const DEFAULT_AUDIT_SERVERS: readonly string[] = ["helmdeck"];
/** Which file was worked on, never what stands in it. */
const DEFAULT_AUDIT_INPUTS: Readonly<Record<string, readonly string[]>> = {
  read: ["path"],
  write: ["path"],
  edit: ["path"],
};
/** Of one call's inputs. */
const MOST_INPUTS = 16;
const SUBJECT_MAX_CHARS = 128;

/**
 * Reads `plugins.entries.helmdeck-memory.config`. The host has checked it against the schema of openclaw.plugin.json, so
 * what is malformed here came by another way: it gets the default or, where access depends on it, closes.
 */
export function parseConfig(raw: unknown): PluginConfig {
  const given = asRecord(raw);
  const source = readSource(given.source);
  return {
    source,
    encryptionKey: given.encryptionKey ?? undefined,
    databasePath: typeof given.databasePath === "string" ? given.databasePath : undefined,
    searchByDefault: given.searchByDefault !== false,
    promptHints: given.promptHints !== false,
    pages: given.pages === undefined || given.pages === true,
    recall: RECALL_MODES.find((mode) => mode === given.recall) ?? "balanced",
    renewOnUse: given.renewOnUse === true,
    embeddings: readEmbeddings(given.embeddings),
    // What a token opens is the engine's, or helmdeck's, to say.
    subjects: source.kind !== "embedded" ? new Map() : readSubjects(given.subjects),
    allow: new Set(CLOSED_CONTEXTS.filter((context) => strings(given.allow).includes(context))),
    auditServers: given.auditServers === undefined ? DEFAULT_AUDIT_SERVERS : strings(given.auditServers),
    auditTools: given.auditTools === "all" ? "all" : "helmdeck",
    auditDeny: readDenied(given.auditDeny),
    auditInputs: readAuditInputs(given.auditInputs),
  };
}

/** What is given but malformed is no reason to keep memory here: an engine's address that is none is refused when it is used. */
function readSource(raw: unknown): SourceConfig {
  const { kind, url, tokens, fingerprint256, caFile, allowPlainHttp } = asRecord(raw);
  if (raw === undefined || raw === null || kind === "embedded") return { kind: "embedded" };
  const isKnown = kind === "engine" || kind === "helmdeck";
  return {
    kind: kind === "helmdeck" ? kind : "engine",
    settings: {
      url: isKnown ? (text(url) ?? "") : "",
      allowPlainHttp: allowPlainHttp === true,
      ...defined({ fingerprint256: text(fingerprint256), caFile: text(caFile) }),
    },
    tokens: new Map(Object.entries(lowerCaseNames(asRecord(tokens)))),
  };
}

function text(raw: unknown): string | undefined {
  return typeof raw === "string" ? raw : undefined;
}

/** A deny list that cannot be read denies everything. */
function readDenied(raw: unknown = []): readonly string[] {
  const names = strings(raw).map((name) => name.trim().toLowerCase());
  return Array.isArray(raw) && names.length === raw.length ? names : ["*"];
}

function readAuditInputs(raw: unknown): PluginConfig["auditInputs"] {
  const inputs = { ...DEFAULT_AUDIT_INPUTS, ...lowerCaseNames(asRecord(raw)) };
  return new Map(Object.entries(inputs).map(([tool, names]) => [tool, strings(names).slice(0, MOST_INPUTS)]));
}

function lowerCaseNames(record: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(record).map(([name, value]) => [name.trim().toLowerCase(), value]),
  );
}

/** What cannot be used as it stands turns search by meaning off, and says why; search by words goes on. */
function readEmbeddings(raw: unknown): EmbeddingsConfig {
  const { apiKey, provider, url, model, dimensions, keepAlive } = asRecord(raw);
  const given = { provider, url, model, dimensions, keepAlive };
  const settings = embeddingSettingsOf(given, nameOfEmbeddingSetting);
  return { settings, apiKey: apiKey ?? undefined };
}

/** For messages. */
export function nameOfEmbeddingSetting(field: string): string {
  return `embeddings.${field} in the plugin's configuration`;
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
