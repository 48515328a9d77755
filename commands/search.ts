/** Declares `search`. */
import { type Command, Option } from "commander";
import type { CommandMemory } from "../app/compose.ts";
import type { RecallHit, RecallQuery, SearchAnswer } from "../app/memory.ts";
import type { Presented, Voice } from "../app/presenters/presented.ts";
import {
  localMinute,
  possiblyRelated,
  SEMANTIC_OFF,
  unmatchedText,
  whyFound,
} from "../app/presenters/words.ts";
import { searchReply } from "../app/wire/replies.ts";
import { ANSWER_LIMITS, RECALL_MODES, type RecallMode } from "../engine/answer-limits.ts";
import { defined } from "../engine/defined.ts";
import { harmlessBlock, harmlessLine } from "../engine/facts/hostile-text.ts";
import { frameOf } from "../engine/projections/frame.ts";
import { type CommandContext, present, type Runs, voiceOf } from "./command-line.ts";
import { EXIT_DONE } from "./exit-codes.ts";
import { count, withExamples } from "./option-parsers.ts";
import { embedSearched, PATIENT, sayingThatItWaits, withMemory } from "./with-memory.ts";

const { least, most, byDefault } = ANSWER_LIMITS.hits;

export function declareSearch(program: Command, runs: Runs): void {
  const search = program
    .command("search")
    .summary("Search facts and records of runs, best first.")
    .description("Search facts and records of runs, best first, as OpenClaw's memory_search does.")
    .argument("<query...>", "Words or a question.")
    .option("--limit <count>", `Maximum number of hits, ${least} to ${most}.`, count, byDefault)
    .addOption(
      new Option("--recall <mode>", "How much to show if there is no sure hit.")
        .choices(RECALL_MODES)
        .default("balanced"),
    )
    .option("--explain", "Say why each hit was found, and why others are not shown.")
    .action((words: string[], _options: unknown, command: Command) => {
      const { limit, explain, recall } = command.opts<SearchOptions>();
      const query = words.join(" ").trim();
      if (query === "") command.error("give the words to search for.");
      return runs(command, async (context) => {
        return searchCommand(context, { query, limit, recall, ...defined({ explain }) });
      });
    });
  withExamples(search, [
    "helmdeck-memory search konflux deployment preference",
    'helmdeck-memory search "who reviews the release notes" --limit 3 --explain',
    "helmdeck-memory search konflux --json",
  ]);
}

interface SearchOptions {
  readonly limit: number;
  readonly explain?: boolean;
  readonly recall: RecallMode;
}

/** `search`: ranked hits, as OpenClaw's memory_search gets them. */
async function searchCommand(context: CommandContext, query: RecallQuery): Promise<number> {
  const { output, options } = context;
  const answered = async (memory: CommandMemory): Promise<number> => {
    // A gateway may answer from a partial index, because the next search sees more. A command runs only once, so it waits.
    const searching = memory.warm(options.caller).then(() => memory.search(options.caller, query));
    const answer = await sayingThatItWaits(context, searching);
    if (options.json) await output.json(searchReply(answer));
    else await present(context, searchText(answer, voiceOf(context)));
    await embedSearched(memory, options.caller);
    return EXIT_DONE;
  };
  return withMemory(context, answered, PATIENT);
}

function searchText(answer: SearchAnswer, voice: Voice): Presented {
  const { results, reason } = answer;
  return {
    answer: [
      ...results.flatMap((hit, index) => [...(index > 0 ? [""] : []), ...hitLines(hit, answer.mode, voice)]),
      ...leftOutLines(answer.leftOut ?? []),
    ],
    notes: [
      ...missNotes(answer, voice),
      ...keywordNotes(answer),
      ...(reason === undefined ? [] : [`Note: ${harmlessLine(reason)}`]),
    ],
  };
}

function hitLines(hit: RecallHit, mode: SearchAnswer["mode"], { style }: Voice): readonly string[] {
  const { possible, why, snippet, parts } = hit;
  const score = style(possible ? "yellow" : "green", hit.score.toFixed(2));
  const [first = "", ...others] = harmlessBlock(snippet).split("\n");
  const mark = possible ? `  (${possiblyRelated(why)})` : "";
  return [
    `${score}  ${style("bold", first)}`,
    ...others.map((line) => (line === "" ? "" : `      ${style("bold", line)}`)),
    // No line of the stored text begins so far left.
    `    ${style("dim", frameOf(hit, { time: localMinute, isForPerson: true }))}${mark}`,
    ...(parts === undefined ? [] : whyFound(parts, mode).map((text) => `    ${style("dim", text)}`)),
  ];
}

function leftOutLines(leftOut: NonNullable<SearchAnswer["leftOut"]>): readonly string[] {
  const lines = leftOut.map(({ key, why }) => `      ${harmlessLine(key)}: ${why}`);
  return lines.length === 0 ? [] : ["", "Not shown:", ...lines];
}

/** What could find more. */
function keywordNotes({ mode, reason, results: [best], hint }: SearchAnswer): readonly string[] {
  if (best === undefined) return hint === undefined ? [] : [`Note: ${hint}`];
  if (mode === "hybrid" || reason !== undefined || !best.possible) return [];
  return [`Note: ${SEMANTIC_OFF}`];
}

function missNotes(
  { results: [best], unmatched }: SearchAnswer,
  { caller, command }: Voice,
): readonly string[] {
  const nothing = `Nothing in the memory of ${harmlessLine(caller)} answers this`;
  if (best !== undefined)
    return best.possible ? [`${nothing} for certain. These hits are only possibly related.`] : [];
  if (unmatched === undefined) return [`${nothing}.`];
  return [
    `${nothing}. ${unmatchedText(unmatched, `${command} list shows the facts`)}`,
    ...(unmatched.facts === 0 ? [] : ["Try other or fewer words."]),
  ];
}
