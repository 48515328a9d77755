/** `search`: ranked hits, as OpenClaw's memory_search gets them. */
import {
  defined,
  harmlessBlock,
  harmlessLine,
  type RecallAnswer,
  type RecallHit,
  type RecallQuery,
  type SearchAnswer,
  unmatchedText,
} from "../../app/index.ts";
import { type CommandContext, withMemory } from "../command-context.ts";
import { embedSearched } from "../embed-afterwards.ts";
import { EXIT_DONE } from "../exit-codes.ts";
import { localMinute, rfc3339 } from "../local-times.ts";
import type { Output } from "../output.ts";

export async function searchCommand(context: CommandContext, query: RecallQuery): Promise<number> {
  const { caller } = context.options;
  return withMemory(context, async (memory) => {
    // A gateway answers from what is indexed so far and knows more a moment later; a command has no later.
    await memory.warm(caller);
    await show(context, await memory.search(caller, query));
    await embedSearched(memory, caller);
    return EXIT_DONE;
  });
}

async function show({ output, options }: CommandContext, answer: RecallAnswer): Promise<void> {
  if (options.json) return output.json(answerJson(answer));
  for (const [index, hit] of answer.results.entries()) {
    if (index > 0) await output.line("");
    await printHit(output, hit);
  }
  if (answer.results.length === 0) await output.note(nothing(options.caller, answer));
  else if (answer.results[0]?.possible) await output.note(onlyPossible(options.caller));
  if (answer.reason !== undefined) await output.note(`Note: ${harmlessLine(answer.reason)}`);
}

function answerJson({ results, mode, reason }: RecallAnswer) {
  return { results: results.map(hitJson), mode, ...defined({ reason }) };
}

function hitJson(hit: RecallHit) {
  const { docid, path, score, possible, snippet, category, key, startLine, endLine, updatedAt, parts } = hit;
  const shown = {
    docid,
    path,
    score,
    ...(possible && { possible }),
    snippet,
    category,
    key,
    startLine,
    endLine,
    updatedAt: rfc3339(updatedAt),
  };
  return parts === undefined ? shown : { ...shown, parts };
}

async function printHit(output: Output, hit: RecallHit): Promise<void> {
  const score = output.styled(hit.possible ? "yellow" : "green", hit.score.toFixed(2));
  const mark = hit.possible ? "  (only possibly related)" : "";
  const where = `${harmlessLine(hit.path)}:${hit.startLine}-${hit.endLine}`;
  await output.line(
    `${score}  ${output.styled("bold", harmlessLine(hit.key))}  ${localMinute(hit.updatedAt)}${mark}`,
  );
  await output.line(`      ${output.styled("dim", where)}`);
  if (hit.parts !== undefined) await output.line(`      ${output.styled("dim", partsLine(hit.parts))}`);
  for (const line of harmlessBlock(hit.snippet).trimEnd().split("\n"))
    await output.line(`      ${line}`.trimEnd());
}

function partsLine(parts: Readonly<Record<string, number>>): string {
  const shares = Object.entries(parts).map(([name, share]) => `${name} ${share.toFixed(3)}`);
  return `score: ${shares.join(" · ")}`;
}

function nothing(caller: string, { unmatched, incomplete }: SearchAnswer): string {
  const answer = `Nothing in the memory of ${harmlessLine(caller)} answers this.`;
  if (unmatched === undefined) return incomplete ? answer : `${answer} It is empty.`;
  return `${answer} Try other or fewer words; helmdeck-memory list shows what is there: ${unmatchedText(unmatched)}`;
}

function onlyPossible(caller: string): string {
  return `Nothing in the memory of ${harmlessLine(caller)} answers this surely; what is shown is only possibly related.`;
}
