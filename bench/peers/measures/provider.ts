/** Asks while the embedder is slow, lies, or is down, with other questions each time, so that no cache answers. */
import { EMBEDDER_STATES, type Embedder } from "../embedder.ts";
import type { QuestionSet } from "../sets.ts";
import type { Running } from "../system.ts";
import { ask, keysShown, type WriteLine, waysOf } from "./record.ts";

const QUESTIONS = 6;
const SAYS_SO =
  /unavailable|"warning"|embedd\w+ (service|provider|api)|could not|keywords? only|failed|error/i;

export async function measureProvider(
  running: Running,
  embedder: Embedder,
  { set, agent, record }: { readonly set: QuestionSet; readonly agent: string; readonly record: WriteLine },
): Promise<void> {
  await running.ready(agent);
  const answerable = set.questions.filter(({ wanted }) => wanted.length > 0);
  for (const [place, state] of EMBEDDER_STATES.entries()) {
    embedder.state = state;
    for (const { question, wanted } of answerable.slice(place * QUESTIONS, (place + 1) * QUESTIONS)) {
      for (const [way, how] of waysOf(running)) {
        const { answer, ms } = await ask(how, agent, question);
        const { isError = false, text } = answer;
        const shown = keysShown(answer, set.facts);
        const saysSo = isError || SAYS_SO.test(text);
        record({
          measure: "provider",
          state,
          way,
          question,
          wanted,
          shown,
          isError,
          saysSo,
          ms: Math.round(ms),
        });
      }
    }
  }
  embedder.state = "up";
}
