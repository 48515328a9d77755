/**
 * Projects entries to corpus documents, for search and reading.
 *
 * A document's text goes into a model's context. So control characters, text direction switches and invisible letters are spelt
 * out here ("[U+202E]"); the store keeps the value byte for byte, and `getFact` returns it unchanged.
 */
import { type AuditRow, parseAuditEntry } from "../audit/audit-entries.ts";
import { harmlessBlock, harmlessLine } from "../facts/hostile-text.ts";
import { withoutMarks } from "../facts/marks.ts";
import { rfc3339 } from "../rfc3339.ts";
import type { Entry } from "../store/memory-store.ts";
import type { CorpusChunk, CorpusEntry, DocumentKind } from "./corpus.ts";
import { writerText } from "./frame.ts";
import { docidOf, originOfCategory, pathOf } from "./paths.ts";

/** `outside`: an origin or category that the corpus never shows. `damaged`: an audit row that cannot be read. */
export type Projection =
  | { readonly kind: "chunk"; readonly entry: CorpusEntry }
  | { readonly kind: "outside" }
  | { readonly kind: "damaged" };

/** A source other than a store has no revisions. */
type ProjectedEntry = Omit<Entry, "revision"> & Partial<Pick<Entry, "revision">>;

/** After the heading and the empty line under it. */
const BODY_START_LINE = 3;

/** Selects by origin, which the writing code path sets, never by the form of a key or category. */
export function projectEntry({ tags, ...held }: ProjectedEntry): Projection {
  const entry = { ...held, tags: withoutMarks(tags) };
  const { origin, category } = entry;
  if (origin === "cache" || origin === "pack" || originOfCategory(category) !== origin)
    return { kind: "outside" };
  if (origin === "fact") return { kind: "chunk", entry: factChunk(entry) };
  const audit = parseAuditEntry(entry);
  return audit === undefined ? { kind: "damaged" } : { kind: "chunk", entry: auditChunk(entry, audit) };
}

interface Text {
  readonly kind: DocumentKind;
  readonly title: string;
  readonly body: string;
  /** Appended to the body. */
  readonly footer?: string;
  readonly metadata: () => CorpusChunk["metadata"];
}

function factChunk(entry: ProjectedEntry): CorpusEntry {
  return corpusEntry(entry, {
    kind: "fact",
    title: harmlessLine(entry.key),
    body: harmlessBlock(Buffer.from(entry.value).toString()),
    footer: `(category: ${entry.category})`,
    metadata: () => ({ tags: entry.tags.map(harmlessLine) }),
  });
}

function auditChunk(entry: ProjectedEntry, audit: AuditRow): CorpusEntry {
  return corpusEntry(entry, textOfRun(audit));
}

function textOfRun(audit: AuditRow): Text {
  switch (audit.kind) {
    case "pack":
      return packText(audit.row);
    case "pipeline":
      return pipelineText(audit.row);
    case "tool":
      return toolText(audit.row);
  }
}

function packText(row: Extract<AuditRow, { kind: "pack" }>["row"]): Text {
  const findings = row.findings?.map(({ code, severity, file }) => {
    return `${severity} ${code}${file === undefined ? "" : ` in ${file}`}`.trim();
  });
  return {
    kind: "pack",
    title: `Pack call: ${harmlessLine(row.pack)}`,
    body: [
      `Outcome: ${row.outcome}`,
      atLine(row.at_unix),
      ...(row.version === undefined ? [] : [`Version: ${row.version}`]),
      ...durationLines(row.duration_ms),
      ...inputLines(row.learn_inputs),
      ...listLines("Findings:", findings),
    ].join("\n"),
    metadata: () => ({ pack: row.pack, outcome: row.outcome, at_unix: row.at_unix }),
  };
}

function pipelineText(row: Extract<AuditRow, { kind: "pipeline" }>["row"]): Text {
  return {
    kind: "pipeline",
    title: `Pipeline run: ${harmlessLine(row.pipeline)}`,
    body: [
      `Outcome: ${row.outcome}`,
      `Run ID: ${row.run_id}`,
      atLine(row.at_unix),
      ...durationLines(row.duration_ms),
      ...inputLines(row.learn_inputs),
    ].join("\n"),
    metadata: () => ({
      pipeline: row.pipeline,
      run_id: row.run_id,
      outcome: row.outcome,
      at_unix: row.at_unix,
    }),
  };
}

function toolText(row: Extract<AuditRow, { kind: "tool" }>["row"]): Text {
  return {
    kind: "tool",
    title: `Tool call: ${harmlessLine(row.tool)}`,
    body: [
      `Outcome: ${row.outcome}`,
      atLine(row.at_unix),
      ...durationLines(row.duration_ms),
      ...inputLines(row.inputs),
    ].join("\n"),
    metadata: () => ({ tool: row.tool, outcome: row.outcome, at_unix: row.at_unix }),
  };
}

function corpusEntry(entry: ProjectedEntry, { kind, title, body, footer, metadata }: Text): CorpusEntry {
  const { value: _, namespace: __, revision: ___, ...meta } = entry;
  const chunk: CorpusChunk = {
    docid: docidOf(entry.category, entry.key),
    path: pathOf(entry.category, entry.key),
    title,
    content: `## ${title}\n\n${body}${footer === undefined ? "" : `\n\n${footer}`}`,
    collection: `helmdeck-${entry.category}`,
    /** For readers of documents; an index of many entries never asks for it. */
    get metadata() {
      return { ...metadata(), ...aboutEntry(entry), kind };
    },
  };
  return { ...meta, kind, chunk, body, bodyStartLine: BODY_START_LINE };
}

function aboutEntry(entry: ProjectedEntry): CorpusChunk["metadata"] {
  const { category, fingerprint, createdAt, updatedAt, expiresAt, writer } = entry;
  return {
    category,
    fingerprint,
    created_at: rfc3339(createdAt),
    updated_at: rfc3339(updatedAt),
    ...(expiresAt !== undefined && { expires_at: rfc3339(expiresAt) }),
    ...(writer && { written_by: writerText(writer) }),
  };
}

function atLine(atUnix: number): string {
  return `At: ${rfc3339(atUnix * 1_000).replace(".000Z", "Z")}`;
}

function durationLines(durationMs: number | undefined): readonly string[] {
  return durationMs === undefined ? [] : [`Duration: ${durationMs}ms`];
}

function inputLines(inputs: Readonly<Record<string, string>> | undefined): readonly string[] {
  return listLines(
    "Inputs used:",
    Object.entries(inputs ?? {}).map(([field, value]) => `${field}: ${harmlessLine(value)}`),
  );
}

function listLines(heading: string, items: readonly string[] | undefined): readonly string[] {
  if (items === undefined || items.length === 0) return [];
  return ["", heading, ...items.map((item) => `- ${item}`)];
}
