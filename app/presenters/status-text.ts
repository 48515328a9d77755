/** Text of `status` for both command lines and chat: plain text without control characters and values. */
import { harmlessLine } from "../../engine/facts/hostile-text.ts";
import type { MemoryStatus } from "../memory.ts";
import { extentText } from "../remote/helmdeck/helmdeck-texts.ts";
import { endingText, keepingTexts } from "./ending-text.ts";
import type { Voice } from "./presented.ts";
import { counted, endedText } from "./words.ts";

export function statusText(
  status: MemoryStatus,
  { command }: Pick<Voice, "command">,
  warnings: readonly string[] = [],
): string {
  const lines = [
    `helmdeck memory: ${status.state === "none" ? "none yet" : status.state}${status.error ? ` (${status.error.code})` : ""}`,
    ...(status.notice ? [`  ${plainLine(status.notice)}`] : []),
    ...(status.error
      ? [`  ${plainLine(status.error.message)}`, `  For details, run: ${command} doctor`]
      : []),
    ...placeLines(status),
    `  search:   ${status.mode === "hybrid" ? "keyword and semantic" : keywordText(status.embeddings)}`,
    ...meaningLines(status.embeddings),
  ];
  const { subject } = status;
  if (subject) {
    lines.push(
      `  ${plainLine(subject.name)}: ${counted(subject.facts, "fact")}, ${counted(subject.auditRows, "record")} of tool runs`,
      ...expiringLines(subject.expiring, command),
      ...(subject.ended ? [`  ${endedText(subject.ended)}`] : []),
    );
  }
  return [...lines, ...warnings.map((warning) => `  ${warning}`)].join("\n");
}

function keywordText(embeddings: MemoryStatus["embeddings"]): string {
  return embeddings !== undefined && "model" in embeddings
    ? "keyword only, because semantic search fails now"
    : "keyword";
}

function placeLines({ engine, databasePath, driver, keySource, readOnly }: MemoryStatus): readonly string[] {
  if (engine === undefined) {
    return [
      `  database: ${plainLine(databasePath)} (${plainLine(driver)})`,
      ...(readOnly === true ? ["            currently read-only: not writable here, or a standby"] : []),
      `  key:      ${plainLine(keySource)}`,
    ];
  }
  const { url, kind = "engine", version = "unknown", tookMs, held } = engine;
  return [
    `  ${`${kind}:`.padEnd(9)} ${plainLine(url)} (version ${plainLine(version)}, ${tookMs} ms for a request)`,
    ...(held === undefined ? [] : [`  known:    ${extentText(held, Date.now())}`]),
  ];
}

/** Includes the command that renews them. */
function expiringLines(
  expiring: NonNullable<MemoryStatus["subject"]>["expiring"],
  command: string,
): readonly string[] {
  if (expiring === undefined) return [];
  const ways = keepingTexts(expiring, { renew: `${command} renew`, pin: `${command} pin` });
  return [`  expiring within 14 days: ${endingText(expiring)}`, ...ways.map((way) => `            ${way}`)];
}

function meaningLines(embeddings: MemoryStatus["embeddings"]): readonly string[] {
  if (embeddings === undefined) return [];
  if (embeddings.provider === "none")
    return embeddings.problem === undefined ? [] : [`  meaning:  off: ${plainLine(embeddings.problem)}`];
  if (embeddings.provider === "unusable") return [`  meaning:  off: ${plainLine(embeddings.problem)}`];
  const { provider, url, model, embedded, waiting, refused, failure } = embeddings;
  const known = [
    `${embedded} embedded`,
    ...(waiting > 0 ? [`${waiting} waiting`] : []),
    ...(refused > 0 ? [`${refused} refused`] : []),
  ];
  return [
    `  meaning:  ${plainLine(url === undefined ? `${model}, built in` : `${model} by ${provider} at ${url}`)}: ${known.join(", ")}`,
    ...(failure === undefined ? [] : [`            last failure: ${plainLine(failure)}`]),
  ];
}

function plainLine(text: string): string {
  return harmlessLine(text).trim();
}
