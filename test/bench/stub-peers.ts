/** Systems that do what a compared memory may do: work, find nothing, crash, hang. The bench loads them in place of its own. */
import { setTimeout as pause } from "node:timers/promises";
import type { Answer, Running, System } from "../../bench/peers/system.ts";

const BASE = { version: "1", settings: "https://example.org", note: "", groups: ["recall"] as const };

/** A memory in a list; it answers with everything that shares a word of six letters with the question. */
function inList(answer: (hits: Answer) => Promise<Answer>): Running {
  const stored = new Map<string, string>();
  const nothing = () => Promise.resolve();
  const find = (question: string): Promise<Answer> => {
    const words = question.match(/\w{6,}/g) ?? [];
    const texts = [...stored.values()].filter((text) => words.some((word) => text.includes(word)));
    return answer({ hits: texts.map((text) => ({ text })), text: texts.join("\n") });
  };
  return {
    ways: { "own tool": (_agent, question) => find(question) },
    store: async (_agent, { key, value }) => void stored.set(key, value),
    forget: async (_agent, { key }) => void stored.delete(key),
    ready: nothing,
    crash: nothing,
    end: nothing,
    stop: nothing,
    pids: () => Promise.resolve([]),
    root: import.meta.dirname,
  };
}

let asked = 0;

export const SYSTEMS: readonly System[] = [
  {
    ...{ ...BASE, id: "finds-nothing", title: "finds nothing" },
    start: async () => inList(async () => ({ hits: [], text: "" })),
  },
  {
    ...{ ...BASE, id: "crashes", title: "crashes" },
    start: async () =>
      inList(async (hits) => {
        asked += 1;
        if (asked > 5) process.exit(3);
        return hits;
      }),
  },
  {
    ...{ ...BASE, id: "hangs", title: "hangs" },
    start: async () => {
      await pause(600_000);
      return inList(async (hits) => hits);
    },
  },
  { ...{ ...BASE, id: "works", title: "works" }, start: async () => inList(async (hits) => hits) },
];
