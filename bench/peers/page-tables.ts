/** The tables of the page, as data: which raw lines a figure is made of, and whether more or less of it is better. */
import {
  all,
  any,
  asked,
  canary,
  contradiction,
  expiry,
  type Figure,
  facts,
  inSet,
  isFirst,
  isTrue,
  meanOf,
  median,
  ofKind,
  precision,
  provider,
  shownTo,
  time,
  tokens,
  unanswerable,
} from "./figures.ts";

export interface Column {
  readonly title: string;
  readonly better: "more" | "less";
  /** Undefined: this system has no such figure. */
  readonly of: Figure;
  readonly show: (figure: number) => string;
  /** Why helmdeck may not be first, and what would mend it. */
  readonly cause?: string;
}

export interface Table {
  readonly title: string;
  readonly text: string;
  /** One row for each way of asking, or one for each system. */
  readonly byWay: boolean;
  readonly columns: readonly Column[];
}

const percent = (figure: number) => `${(figure * 100).toFixed(0)} %`;
const number = (figure: number) => figure.toFixed(figure < 10 ? 1 : 0);
const whole = (figure: number) => Math.round(figure).toLocaleString("en");
const megabytes = (figure: number) => whole(figure / 2 ** 20);

const yesNo = (figure: number) => (figure === 0 ? "no" : "**yes**");

/** What several causes refer to. */
export const CAUSES = [
  "**The cut-off.** helmdeck withholds facts that it is not sure of, but for two possible ones that reach a least score. `recall: eager` shows three, and has a row of its own in the tables; where it changes nothing, the least score withholds the fact ([what would be found without it](../benchmarks.md#paraphrased-questions)). Not mended by default: what it would show besides is mostly wrong ([figures](../benchmarks.md#possible-hits)).",
  "**The fields.** Most of a short fact's answer is not its text: its name comes as key, title, docid and path, and OpenClaw recognises the copy of the data by its indentation ([decision 43](../decisions/0043-structured-content-in-mcp.md)). Not mended: clients read these fields.",
].join("\n\n");
const CUT_OFF = "The cut-off.";
const WHOLE_FILE = "All of MEMORY.md is in every prompt, so nothing can be missed while it fits.";
const FIELDS = "The fields.";
const POSSIBLE =
  "Possible hits are shown for questions without an answer, marked as such. `recall: quiet` shows sure hits only.";
const SLOW = "helmdeck answers by keywords after 1.5 s, and says so; the first waits for the embedder.";

const found = (title: string, of: Figure, cause = ""): Column => ({
  ...{ title, better: "more", of, show: percent, cause },
});
const spent = (title: string, of: Figure, cause?: string, show = whole): Column => ({
  ...{ title, better: "less", of, show, ...(cause !== undefined && { cause }) },
});

function foundColumns(set: string): readonly Column[] {
  return [
    found("any@1", asked(inSet(set), any(1)), "The order of the hits."),
    found("any@3", asked(inSet(set), any(3)), CUT_OFF),
    found("any@10", asked(inSet(set), any(10)), `${CUT_OFF} ${WHOLE_FILE}`),
    found("precision", precision(inSet(set)), "A search that shows little shows little that is wrong."),
    spent(
      "tokens",
      asked(inSet(set), tokens),
      set === "locomo" ? "Lines of a conversation are shown together: ten hits for a question." : FIELDS,
    ),
  ];
}

export const TABLES: readonly Table[] = [
  {
    title: "Everyday questions",
    text: "200 facts; questions as people ask them, in the fact's words, in some of them, and in none (other words); and questions that no fact answers. any@k: a wanted fact is among the first k. Precision: wanted facts among all facts shown. Tokens of the answer, at four characters each.",
    byWay: true,
    columns: [
      found("own words, any@3", asked(ofKind("everyday", "own"), any(3))),
      found("some words, any@3", asked(ofKind("everyday", "part"), any(3)), CUT_OFF),
      found(
        "other words, any@3",
        asked(ofKind("everyday", "paraphrase"), any(3)),
        `${CUT_OFF} Where eager is no better: by the ranking, in which words count beside the model's vectors.`,
      ),
      ...foundColumns("everyday"),
      spent("unanswerable: facts shown", asked(unanswerable("everyday"), facts), POSSIBLE, number),
      spent("unanswerable: tokens", asked(unanswerable("everyday"), tokens), FIELDS),
    ],
  },
  {
    title: "Other words and other languages",
    text: "Questions that share no word with their fact, among 327 facts; and questions in other languages about facts in these, among 200.",
    byWay: true,
    columns: [
      ...["any@1", "any@3", "any@10"].map((title, at) =>
        found(
          `other words, ${title}`,
          asked(inSet("paraphrase"), any([1, 3, 10][at] ?? 1)),
          at === 2 ? `${CUT_OFF} ${WHOLE_FILE}` : CUT_OFF,
        ),
      ),
      spent("other words, tokens", asked(inSet("paraphrase"), tokens), FIELDS),
      found("languages, any@3", asked(inSet("languages"), any(3))),
    ],
  },
  {
    title: "A set from a seed",
    text: "120 facts with made-up names, and as many questions in some of their words; and 60 questions about things that were never stored. Choose another seed with `--seed`.",
    byWay: true,
    columns: [
      ...foundColumns("seeded"),
      spent("never stored: facts shown", asked(unanswerable("seeded"), facts), POSSIBLE, number),
    ],
  },
  {
    title: "LoCoMo",
    text: "Each turn of one conversation is a fact. all@10: every turn of the evidence is among the first 10. LoCoMo's own answers are not used, only the turns that it names as evidence.",
    byWay: true,
    columns: [
      ...foundColumns("locomo"),
      found("all@10", asked(inSet("locomo"), all(10)), WHOLE_FILE),
      found("adversarial, any@10", asked(ofKind("locomo", "adversarial"), any(10)), WHOLE_FILE),
    ],
  },
  {
    title: "Time of a question",
    text: "Milliseconds at the client, one everyday question at a time, among 200 facts. Errors: of all questions of all sets. A gateway's tool call takes some 30 ms by itself; a tool that is called directly does not pay for it.",
    byWay: true,
    columns: [
      spent(
        "p50 ms",
        time(0.5),
        "`memory_search` in the gateway has a cost of its own, and the built-in model embeds each question.",
      ),
      spent(
        "p95 ms",
        time(0.95),
        "`memory_search` in the gateway has a cost of its own, and the built-in model embeds each question.",
      ),
      spent(
        "longest block of the gateway, ms",
        meanOf(
          ({ measure }) => measure === "blocked",
          ({ ms }) => Number(ms),
        ),
        "Tool calls through the gateway block it; a tool that is called directly does not.",
      ),
      spent("errors", (lines) => {
        const of = lines.filter(({ measure }) => measure === "question" || measure === "timed");
        return of.length === 0 ? undefined : of.filter(({ isError }) => isError).length;
      }),
    ],
  },
  {
    title: "Cost of having it",
    text: "`openclaw --help` and the start of the gateway: milliseconds, medians. Processor time: of the gateway until it is ready. Resident: proportional set size of all processes of the home, after the start and after all questions.",
    byWay: false,
    columns: [
      spent(
        "`openclaw --help`, ms",
        median("help"),
        "OpenClaw reads and scans each installed plugin; a server over MCP costs nothing there.",
      ),
      spent("gateway, ms", median("gateway"), "The gateway loads the plugin twice and starts its worker."),
      spent(
        "its processor ms",
        median("gateway", "processorMs"),
        "The gateway loads the plugin twice and starts its worker.",
      ),
      spent(
        "resident MB, idle",
        median("resident, idle", "bytes"),
        "A worker with the index, and the model as a process of its own.",
        megabytes,
      ),
      spent(
        "resident MB, after the questions",
        median("resident", "bytes"),
        "A worker with the index, and the model as a process of its own; it ends when it is not used.",
        megabytes,
      ),
    ],
  },
  {
    title: "On the disk and between agents",
    text: "A fact with a random word is stored, asked for, forgotten as the system's documents say. Files: how many of the home hold the word in clear. Found by the other agent: in the same gateway, with the settings above.",
    byWay: false,
    columns: [
      spent("files after store", canary("stored"), "", whole),
      spent("after forget", canary("forgotten"), "", whole),
      spent("after the end", canary("ended"), "", whole),
      { ...spent("found by another agent", shownTo("other", "stored")), show: yesNo },
      { ...spent("found after forget", shownTo("main", "forgotten")), show: yesNo },
    ],
  },
  {
    title: "What contradicts, expires, or is being written",
    text: "Three values of one thing, stored one after the other, under one name or under three; and a habit that ended. First: the newest is the first hit that shows any of them. Old: how many old ones the answer shows as well. `kill -9`: the share of acknowledged facts that is found afterwards.",
    byWay: true,
    columns: [
      found("one name: newest first", meanOf(contradiction("correction, same name"), isTrue("isFirst")), ""),
      spent(
        "old shown",
        meanOf(contradiction("correction, same name"), ({ old }) => Number(old)),
        "",
        number,
      ),
      found("other names: newest first", meanOf(contradiction("correction, other names"), isFirst), ""),
      spent(
        "old shown",
        meanOf(contradiction("correction, other names"), ({ old }) => Number(old)),
        "Old values under other names are shown behind the newest, with the note that they contradict it, so that the agent can ask and replace them.",
        number,
      ),
      found(
        "negation: newest first",
        meanOf(contradiction("negation"), isFirst),
        'The rules know a denial in the fact\'s own words ("no longer", "stopped"). Who says it otherwise ("I sold the car"), with a condition ("after rain"), or in fewer words than the question keeps the order of the ranking, in which the shorter, older statement is often nearer to the question.',
      ),
      found("expiring: found before", expiry("before"), ""),
      spent("found after", expiry("after"), "", percent),
      found(
        "`kill -9`: found",
        meanOf(
          ({ measure }) => measure === "kill",
          (line) => Number(line.found) / Math.max(1, Number(line.acknowledged)),
        ),
        "",
      ),
    ],
  },
  {
    title: "In the prompt",
    text: "Ten turns of one conversation; a fact is stored before every third. Repeated: the part of a request that the next one begins with, which a provider's prompt cache can reuse.",
    byWay: false,
    columns: [
      spent(
        "system prompt, tokens",
        meanOf(
          ({ measure }) => measure === "turn",
          ({ systemCharacters }) => Number(systemCharacters) / 4,
        ),
        "helmdeck's lines tell the agent what to store where. `promptHints: false` removes them.",
      ),
      spent(
        "tools, tokens",
        meanOf(
          ({ measure }) => measure === "turn",
          ({ toolCharacters }) => Number(toolCharacters) / 4,
        ),
        "Three more tools.",
      ),
      found(
        "repeated, mean",
        meanOf(
          ({ measure, turn }) => measure === "turn" && turn !== 1,
          ({ kept }) => Number(kept),
        ),
        "The prompt lines name categories, which change when a fact of a new category is stored.",
      ),
      found(
        "repeated, least",
        (lines) => {
          const of = lines.filter(({ measure, turn }) => measure === "turn" && turn !== 1);
          return of.length === 0 ? undefined : Math.min(...of.map(({ kept }) => Number(kept)));
        },
        "The prompt lines name categories, which change when a fact of a new category is stored.",
      ),
    ],
  },
  {
    title: "When the embedder fails",
    text: "Six everyday questions with the shared embedder up, then slow (5 s), lying (random vectors) and down. Says so: the share of answers that name the problem. A liar cannot be told from a good embedder by one answer.",
    byWay: true,
    columns: ["up", "slow", "lying", "down"].flatMap((state) => [
      found(
        `${state}: any@3`,
        meanOf(provider(state), any(3)),
        state === "slow" ? SLOW : "One question of six.",
      ),
      spent(
        `${state}: longest ms`,
        (lines) => {
          const of = lines.filter(provider(state));
          return of.length === 0 ? undefined : Math.max(...of.map(({ ms }) => Number(ms)));
        },
        "One answer of six, on a machine that did other things as well.",
      ),
      ...(state === "up" ? [] : [found(`${state}: says so`, meanOf(provider(state), isTrue("saysSo")), "")]),
    ]),
  },
];
