/** Memory's answers as plain text for people, in chat and on the terminal: no control characters, no values unasked. */
import {
  type DoctorReport,
  type FactsPage,
  type Forgotten,
  harmlessBlock,
  harmlessLine,
  type MemoryStatus,
  nearWords,
  type SearchAnswer,
  unmatchedText,
} from "../app/index.ts";

/** Enough of a passage to recognise it by. */
const PASSAGE_MAX_LINES = 4;

export function statusText(status: MemoryStatus, warnings: readonly string[] = []): string {
  const lines = [
    `helmdeck memory: ${status.state}${status.error ? ` (${status.error.code})` : ""}`,
    ...(status.error
      ? [`  ${plainLine(status.error.message)}`, "  Look further: openclaw helmdeck doctor"]
      : []),
    `  database: ${plainLine(status.databasePath)} (${plainLine(status.driver)})`,
    `  key:      ${plainLine(status.keySource)}`,
    `  search:   ${status.mode === "hybrid" ? "by words and meaning" : "by words"}`,
    ...meaningLines(status.embeddings),
  ];
  const { subject } = status;
  if (subject) {
    lines.push(
      `  ${plainLine(subject.name)}: ${counted(subject.facts, "fact")}, ${counted(subject.auditRows, "record")} of tool runs`,
    );
  }
  return [...lines, ...warnings.map((warning) => `  ${warning}`)].join("\n");
}

function meaningLines(embeddings: MemoryStatus["embeddings"]): readonly string[] {
  if (embeddings === undefined || embeddings.provider === "none") return [];
  if (embeddings.provider === "unusable") return [`  meaning:  off: ${plainLine(embeddings.problem)}`];
  const { provider, url, model, embedded, waiting, refused, failure } = embeddings;
  const known = [
    `${embedded} embedded`,
    ...(waiting > 0 ? [`${waiting} waiting`] : []),
    ...(refused > 0 ? [`${refused} refused`] : []),
  ];
  return [
    `  meaning:  ${plainLine(model)} by ${provider} at ${plainLine(url)}: ${known.join(", ")}`,
    ...(failure === undefined ? [] : [`            last failure: ${plainLine(failure)}`]),
  ];
}

export function answerText(query: string, answer: SearchAnswer, explain = false): string {
  const reason = answer.reason === undefined ? [] : [`(${plainLine(answer.reason)})`];
  if (answer.results.length === 0) return [nothingFound(query, answer), ...reason].join("\n");
  const heading = answer.results[0]?.possible
    ? [`Nothing answers "${plainLine(query)}" surely; what follows is only possibly related.`]
    : [];
  const hits = answer.results.map((hit, index) =>
    [
      `${index + 1}. ${hit.score.toFixed(2)}  ${plainLine(hit.path)}:${hit.startLine}-${hit.endLine}${hit.possible ? "  (only possibly related)" : ""}`,
      ...(explain && hit.parts ? [`   ${partsText(hit.parts)}`] : []),
      ...passageLines(hit.snippet).map((line) => `   ${line}`),
    ].join("\n"),
  );
  return [...heading, ...hits, ...reason].join("\n\n");
}

function nothingFound(query: string, { unmatched }: SearchAnswer): string {
  const counted = unmatched === undefined ? "" : ` ${unmatchedText(unmatched)}`;
  return `Nothing found for "${plainLine(query)}".${counted}`;
}

/** `narrowed`: only some of the facts were asked for. */
export function factsText(page: FactsPage, narrowed: boolean): string {
  const lines = page.facts.map(
    (fact) =>
      `${plainLine(fact.key)}  (${plainLine(fact.category)}, ${new Date(fact.updatedAt).toISOString()})`,
  );
  const unreadable = page.unreadable.map(
    (key) => `${plainLine(key)}  (does not open under this key; see doctor)`,
  );
  const more =
    page.nextCursor === undefined ? [] : ["… and more; narrow it down by prefix, or raise --limit."];
  return lines.length + unreadable.length === 0
    ? narrowed
      ? "No such fact is stored. A prefix is the beginning of a key, case matters; without one list shows them all."
      : "Nothing is stored."
    : [...lines, ...unreadable, ...more].join("\n");
}

export function forgottenText(forgotten: Forgotten): string {
  const { scope, deleted, dryRun, erased } = forgotten;
  if (deleted === 0) return missText(forgotten);
  const what = `${counted(deleted, "entry", "entries")} for ${plainLine(scope)}`;
  if (dryRun) return `Would forget ${what}. Nothing was changed.`;
  return `Forgot ${what}.${erased === "pending" ? " Old bytes are overwritten once no reader needs them." : ""}`;
}

function missText(forgotten: Forgotten): string {
  const near = nearWords(forgotten) ?? "Keys are exact, case matters: openclaw helmdeck list shows them.";
  const outcome = forgotten.dryRun ? "would be" : "was";
  return `Nothing matched ${plainLine(forgotten.scope)}, so nothing ${outcome} forgotten.\n${near}`;
}

export function doctorText(report: DoctorReport): string {
  const marks = { ok: "ok     ", warning: "warning", error: "ERROR  " } as const;
  return report.findings
    .flatMap(({ level, check, message, remedy }) => [
      `${marks[level]}  ${plainLine(check)}: ${plainLine(message)}`,
      ...(remedy === undefined ? [] : [`         → ${plainLine(remedy)}`]),
    ])
    .join("\n");
}

function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

function partsText(parts: Readonly<Record<string, number>>): string {
  return Object.entries(parts)
    .map(([name, share]) => `${plainLine(name)} ${share.toFixed(3)}`)
    .join(" · ");
}

function passageLines(snippet: string): readonly string[] {
  const lines = harmlessBlock(snippet)
    .split("\n")
    .filter((line) => line.trim() !== "");
  return lines.length > PASSAGE_MAX_LINES ? [...lines.slice(0, PASSAGE_MAX_LINES), "…"] : lines;
}

function plainLine(text: string): string {
  return harmlessLine(text).trim();
}
