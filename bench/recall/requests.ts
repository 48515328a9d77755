/** Counts the requests to remember that are kept, and the junk that is kept with them, in four languages. */
import { asSentence, requestIn } from "../../plugin/requests.ts";
import { type Measured, table } from "../measured.ts";
import { readRequests } from "../sets/requests-set.ts";

const LANGUAGES = { en: "English", de: "German", es: "Spanish", fr: "French" } as const;
const HALVES = { tune: "tuned on", held: "held out" } as const;

interface Answer {
  readonly half: keyof typeof HALVES;
  readonly language: keyof typeof LANGUAGES;
  readonly isRequest: boolean;
  /** Absent if nothing was kept. */
  readonly kept?: "exactly" | "more or less";
}

export function measureRequests(): readonly Answer[] {
  return readRequests().map((line) => {
    const kept = requestIn(line.message);
    const isRequest = line.kind === "request";
    const isExact = line.kind === "request" && kept === asSentence(line.keep);
    return {
      ...{ half: line.half, language: line.language, isRequest },
      ...(kept !== undefined && { kept: isExact ? "exactly" : "more or less" }),
    };
  });
}

export function requestsSection(answers: readonly Answer[]): Measured {
  const rowOf = (name: string, half: keyof typeof HALVES, of: readonly Answer[]) => {
    const [requests, junk] = [
      of.filter(({ isRequest }) => isRequest),
      of.filter(({ isRequest }) => !isRequest),
    ];
    const kept = requests.filter((one) => one.kept !== undefined);
    const exact = kept.filter((one) => one.kept === "exactly");
    return [
      ...[name, HALVES[half], `${requests.length}`],
      `${kept.length} (${Math.round((100 * kept.length) / requests.length)} %)`,
      `${exact.length}`,
      ...[`${junk.length}`, `${junk.filter((one) => one.kept !== undefined).length}`],
    ];
  };
  const halves = Object.keys(HALVES) as (keyof typeof HALVES)[];
  const languages = Object.keys(LANGUAGES) as (keyof typeof LANGUAGES)[];
  const rows = halves.flatMap((half) => {
    const here = answers.filter((one) => one.half === half);
    return [
      ...languages.map((language) =>
        rowOf(
          LANGUAGES[language],
          half,
          here.filter((one) => one.language === language),
        ),
      ),
      rowOf("**all**", half, here),
    ];
  });
  return {
    title: "Requests that are kept",
    command: "npm run bench:recall -- --only requests",
    markdown: [
      "With `captureRequests`, a message that plainly asks to remember something is stored if the agent stored nothing. This counts what the rules keep of 300 messages (`test/data/README.md`): 120 requests, and 180 pieces of junk that use the same words. The rules are tuned on one half only. Of the other half only such figures were looked at, five times: the first rules kept 51 of its requests and 2 pieces of junk. The last time, some forty general forms had been added, and nothing of that half changed. When German clauses became sentences, the three of that half were written by hand.",
      table(["messages", "half", "requests", "kept", "exactly so", "junk", "kept"], rows),
    ].join("\n\n"),
    json: answers,
  };
}
