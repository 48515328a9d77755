/** What the measures share: the raw lines, and which facts an answer shows. */
import type { FactLine } from "../../recall/conversations.ts";
import type { Answer, Ask, Running, Way } from "../system.ts";

/** Writes one line of raw results. */
export type WriteLine = (line: { readonly measure: string } & Readonly<Record<string, unknown>>) => void;

export interface Measured {
  readonly answer: Answer;
  readonly ms: number;
}

/** Letters and digits of a text that identify a fact. */
const COMPARED_CHARS = 60;
const ANSWER_WITHIN_MS = 30_000;

export function waysOf({ ways }: Running): readonly (readonly [Way, Ask])[] {
  return Object.entries(ways) as (readonly [Way, Ask])[]; // its declared keys
}

/** An error, and an answer that comes too late, count as one without hits. */
export async function ask(how: Ask, agent: string, question: string): Promise<Measured> {
  const began = performance.now();
  const late = Promise.withResolvers<Answer>();
  const timer = setTimeout(
    () => late.reject(new Error(`no answer within ${ANSWER_WITHIN_MS} ms`)),
    ANSWER_WITHIN_MS,
  );
  try {
    return {
      answer: await Promise.race([how(agent, question), late.promise]),
      ms: performance.now() - began,
    };
  } catch (error) {
    return { answer: { hits: [], text: String(error), isError: true }, ms: performance.now() - began };
  } finally {
    clearTimeout(timer);
  }
}

/** The keys of the shown facts, in the order of the hits. */
export function keysShown({ hits }: Answer, facts: readonly FactLine[]): readonly string[] {
  const marks = facts.map(({ key, value }) => ({ key, mark: plain(value).slice(0, COMPARED_CHARS) }));
  const known = new Set(facts.map(({ key }) => key));
  const shown = hits.flatMap((hit) => {
    if (hit.key !== undefined && known.has(hit.key)) return [hit.key];
    const text = plain(hit.text);
    return marks.filter(({ mark }) => text.includes(mark)).map(({ key }) => key);
  });
  return [...new Set(shown)];
}

/** For an answer that an agent passes on: it is one text, and some systems name a fact without its text. */
export function isPassedOn({ hits, text }: Answer, fact: FactLine): boolean {
  return keysShown({ hits, text }, [fact]).length > 0 || text.includes(fact.key);
}

function plain(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");
}
