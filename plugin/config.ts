/** Reads the plugin's configuration from the host's: typed, with defaults, without throwing. */

import { type EmbeddingSettings, embeddingSettingsOf } from "../app/embedding/embedding-settings.ts";
import { lifetimeDaysOf } from "../app/quota.ts";
import type { EngineSettings } from "../app/remote/engine/engine-address.ts";
import { isSubject } from "../app/subject.ts";
import { RECALL_MODES, type RecallMode } from "../engine/answer-limits.ts";
import { defined } from "../engine/defined.ts";

/** Contexts that are closed until the operator opens them. */
export const CLOSED_CONTEXTS = ["groups", "hooks", "sandboxed"] as const;
export type ClosedContext = (typeof CLOSED_CONTEXTS)[number];

/** Which tools are recorded: those of the helmdeck servers, or all. */
type AuditTools = "helmdeck" | "all";

export interface PluginConfig {
  /** Which system keeps memory. */
  readonly source: SourceConfig;
  /** A string, or a reference to a secret that still has to be resolved (plugin/resolve-secret.ts). */
  readonly encryptionKey: unknown;
  readonly databasePath: string | undefined;
  readonly searchByDefault: boolean;
  readonly promptHints: boolean;
  /** The tab in OpenClaw's Control UI. */
  readonly pages: boolean;
  /** In opened groups and hooks it is always quiet, whatever this setting says. */
  readonly recall: RecallMode;
  /** The life of a fact whose writer names none; undefined: 90 days. */
  readonly lifetimeDays: number | undefined;
  /** A fact with the default lifetime is renewed when an agent reads it completely. */
  readonly renewOnUse: boolean;
  /** Adds the facts that are sure for a person's message after its words, without being asked. */
  readonly autoRecall: "off" | "sure";
  /** Stores what a person plainly asks to remember, if the agent stores nothing. */
  readonly captureRequests: "off" | "store";
  readonly embeddings: EmbeddingsConfig;
  /** By agent id in lower case. An `undefined` value marks a malformed entry: that agent gets no memory. */
  readonly subjects: ReadonlyMap<string, string | undefined>;
  readonly allow: ReadonlySet<ClosedContext>;
  readonly auditServers: readonly string[];
  readonly auditTools: AuditTools;
  /** Tools that are never recorded. Names in lower case; a trailing "*" matches every name with that prefix. */
  readonly auditDeny: readonly string[];
  /** The inputs that may be recorded, by tool name in lower case. */
  readonly auditInputs: ReadonlyMap<string, readonly string[]>;
}

/** This host, an engine on another server, or a running helmdeck. */
type SourceConfig = { readonly kind: "embedded" } | EngineSourceConfig | HelmdeckSourceConfig;

/** This agent uses the token of OpenClaw's own helmdeck entry unless it has its own token. */
export const MCP_ENTRY_AGENT = "main";

export interface HelmdeckSourceConfig extends Omit<EngineSourceConfig, "kind"> {
  readonly kind: "helmdeck";
}

export interface EngineSourceConfig {
  readonly kind: "engine";
  readonly settings: EngineSettings;
  /** By agent id in lower case: a file, or an unresolved secret reference; never the token itself. */
  readonly tokens: ReadonlyMap<string, unknown>;
}

/** Memory's embedding settings, except that the key may be an unresolved secret reference. */
export interface EmbeddingsConfig {
  readonly settings: EmbeddingSettings;
  readonly apiKey: unknown;
}

const DEFAULT_AUDIT_SERVERS: readonly string[] = ["helmdeck"];
/** Which file was used, never its content. */
const DEFAULT_AUDIT_INPUTS: Readonly<Record<string, readonly string[]>> = {
  read: ["path"],
  write: ["path"],
  edit: ["path"],
};
/** Limit for the inputs of one call. */
const MOST_INPUTS = 16;

/**
 * Reads `plugins.entries.helmdeck-memory.config`. The host has validated it against the schema of openclaw.plugin.json. A
 * setting that is malformed nevertheless gets its default or, if access depends on it, denies access.
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
    lifetimeDays: lifetimeDaysOf(given.lifetimeDays),
    renewOnUse: given.renewOnUse === true,
    autoRecall: given.autoRecall === "sure" ? "sure" : "off",
    captureRequests: given.captureRequests === "store" ? "store" : "off",
    embeddings: readEmbeddings(given.embeddings),
    // The engine, or helmdeck, decides what a token gives access to.
    subjects: source.kind !== "embedded" ? new Map() : readSubjects(given.subjects),
    allow: new Set(CLOSED_CONTEXTS.filter((context) => strings(given.allow).includes(context))),
    auditServers: given.auditServers === undefined ? DEFAULT_AUDIT_SERVERS : strings(given.auditServers),
    auditTools: given.auditTools === "all" ? "all" : "helmdeck",
    auditDeny: readDenied(given.auditDeny),
    auditInputs: readAuditInputs(given.auditInputs),
  };
}

/** A malformed source must not make this host keep memory instead. A malformed address is refused when it is used. */
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

/** A malformed deny list denies everything. */
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

/** Unusable settings turn semantic search off and say why; keyword search still works. */
function readEmbeddings(raw: unknown): EmbeddingsConfig {
  const { apiKey, provider, url, model, dimensions, keepAlive } = asRecord(raw);
  const given = { provider, url, model, dimensions, keepAlive };
  const settings = embeddingSettingsOf(given, nameOfEmbeddingSetting);
  return { settings, apiKey: apiKey ?? undefined };
}

/** The setting's name in messages. */
export function nameOfEmbeddingSetting(field: string): string {
  return `embeddings.${field} in the plugin's configuration`;
}

function readSubjects(raw: unknown): PluginConfig["subjects"] {
  return new Map(
    Object.entries(asRecord(raw)).map(([agentId, subject]) => [
      agentId.trim().toLowerCase(),
      typeof subject === "string" && isSubject(subject.trim()) ? subject.trim() : undefined,
    ]),
  );
}

function strings(raw: unknown): readonly string[] {
  return Array.isArray(raw) ? raw.filter((item) => typeof item === "string") : [];
}

function asRecord(raw: unknown): Readonly<Record<string, unknown>> {
  return typeof raw === "object" && raw !== null && !Array.isArray(raw) ? { ...raw } : {};
}
