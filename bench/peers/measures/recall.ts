/** Asks all questions of all sets, one at a time. */
import type { QuestionSet } from "../sets.ts";
import type { Running } from "../system.ts";
import { ask, keysShown, type WriteLine, waysOf } from "./record.ts";

export async function measureRecall(
  running: Running,
  sets: Readonly<Record<string, QuestionSet>>,
  record: WriteLine,
): Promise<void> {
  for (const agent of Object.keys(sets)) await running.ready(agent);
  for (const [way, how] of waysOf(running)) {
    for (const [set, { facts, questions }] of Object.entries(sets)) {
      for (const { kind, question, wanted } of questions) {
        const { answer } = await ask(how, set, question);
        const { isError = false, text, hits } = answer;
        const shown = keysShown(answer, facts);
        const size = { characters: text.length, hits: hits.length };
        record({
          measure: "question",
          way,
          set,
          kind,
          question,
          wanted,
          shown,
          ...size,
          isError,
        });
      }
    }
  }
}
