/** Neighbours are found as if all documents were sorted before each question, whatever came in between. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { IndexedDocument } from "../../recall/lexical/indexed-document.ts";
import { LexicalIndex } from "../../recall/lexical/lexical-index.ts";
import { WEIGHTS } from "../../recall/weights.ts";
import { corpusEntry, idOf } from "./corpus.ts";

const { reach, longestGapMs } = WEIGHTS.thread;

const KEYS = [
  ...Array.from({ length: 14 }, (_, n) => `call/${n}`),
  ...["call/007", "call/end", "call/x9", "call/x10", "calls", "2026-11-28/1"],
];

const added = fc.record({
  key: fc.constantFrom(...KEYS),
  createdAt: fc.integer({ min: 0, max: 40 }).map((n) => n * 70_000),
  conversationId: fc.constantFrom("call", "chat", ""),
});
const step = fc.oneof(
  { weight: 5, arbitrary: added.map((fact) => ({ do: "add" as const, fact })) },
  { weight: 1, arbitrary: fc.constantFrom(...KEYS).map((key) => ({ do: "remove" as const, key })) },
  { weight: 2, arbitrary: fc.constant({ do: "look" as const }) },
);

test("are those of a list that is sorted before each question", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const index = new LexicalIndex();
      for (const one of steps) {
        if (one.do === "add") index.add(corpusEntry({ ...one.fact, value: "a line" }));
        else if (one.do === "remove") index.remove(idOf(one.key));
        else expect(allAround(index)).toEqual(expected([...index.documents()]));
      }
      expect(allAround(index)).toEqual(expected([...index.documents()]));
    }),
    { numRuns: 300 },
  );
});

function allAround(index: LexicalIndex): Readonly<Record<string, readonly string[]>> {
  const all = [...index.documents()].map(
    (document) =>
      [
        document.key,
        index.neighbours.around(document).map((one) => `${one.document.key} ${one.distance}`),
      ] as const,
  );
  return Object.fromEntries(all);
}

function expected(documents: readonly IndexedDocument[]): Readonly<Record<string, readonly string[]>> {
  const byKey = new Intl.Collator("en", { numeric: true });
  const around = (document: IndexedDocument): readonly string[] => {
    const sorted = documents
      .filter(({ conversationId }) => conversationId && conversationId === document.conversationId)
      .toSorted((a, b) => a.createdAt - b.createdAt || byKey.compare(a.key, b.key) || (a.id < b.id ? -1 : 1));
    const place = sorted.indexOf(document);
    if (place === -1) return [];
    const found: string[] = [];
    for (let distance = 1; distance <= reach; distance += 1)
      for (const other of [sorted[place - distance], sorted[place + distance]])
        if (other !== undefined && Math.abs(other.createdAt - document.createdAt) <= longestGapMs)
          found.push(`${other.key} ${distance}`);
    return found;
  };
  return Object.fromEntries(documents.map((document) => [document.key, around(document)]));
}
