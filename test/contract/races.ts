/** Contract of two memories over one store: of two changes made from the same state, one passes, and none that was not seen is lost. */
import { describe, expect, test } from "vitest";
import type { Memory } from "../../app/memory.ts";
import { isHelmdeckError } from "../../engine/errors.ts";
import { sized } from "../run/size.ts";

/** Use cases of two memories, whose calls overlap. */
export type Racers = readonly [Racer, Racer];
export type Racer = Pick<Memory, "storeFact" | "getFact" | "undoFact" | "forget" | "listFacts" | "pinFact">;

/** One round; returns what went wrong. */
type Race = (racers: Racers, round: number) => Promise<readonly string[]>;

const SUBJECT = "main";

const RACES: Readonly<Record<string, Race>> = {
  "two stores of what both have read": async ([one, other], round) => {
    const key = `store/${round}`;
    const { revision: ifRevision = -1 } = await one.storeFact(SUBJECT, { key, value: "first" });
    const values = ["of one", "of other"];
    const ended = await overlapping(
      () => one.storeFact(SUBJECT, { key, value: "of one", ifRevision }),
      () => other.storeFact(SUBJECT, { key, value: "of other", ifRevision }),
    );
    const winner = values[ended.indexOf("done")];
    const now = (await one.getFact(SUBJECT, { key }))?.value;
    return [
      ...onlyOneOf(ended, "changed_meanwhile"),
      ...(now === winner ? [] : ["the loser's value is stored"]),
    ];
  },
  "an undo and a store of what both have read": async ([one, other], round) => {
    const key = `undo/${round}`;
    await one.storeFact(SUBJECT, { key, value: "first" });
    const { revision: ifRevision = -1 } = await one.storeFact(SUBJECT, { key, value: "second" });
    const ended = await overlapping(
      () => one.undoFact(SUBJECT, { key, ifRevision }),
      () => other.storeFact(SUBJECT, { key, value: "third", ifRevision }),
    );
    const now = (await one.getFact(SUBJECT, { key }))?.value;
    const isRight = now === (ended[0] === "done" ? "first" : "third");
    return [...onlyOneOf(ended, "changed_meanwhile"), ...(isRight ? [] : ["the loser's value is stored"])];
  },
  "a forget of what was shown, and stores": async ([one, other], round) => {
    const category = `forget-${round}`;
    const [gone, changed, late] = ["gone", "changed", "late"].map((name) => `${category}/${name}`);
    if (gone === undefined || changed === undefined || late === undefined) return ["no keys"];
    for (const key of [gone, changed]) await one.storeFact(SUBJECT, { key, value: "shown", category });
    const scope = `category:${category}`;
    const { revision: upTo = -1 } = await one.forget(SUBJECT, { scope, dryRun: true });
    const ended = await overlapping(
      async () => {
        await other.storeFact(SUBJECT, { key: late, value: "unseen", category });
        await other.storeFact(SUBJECT, { key: changed, value: "unseen", category });
      },
      async () => {
        await one.getFact(SUBJECT, { key: gone }); // so that it falls between the stores, now and then
        await one.forget(SUBJECT, { scope, upTo });
      },
    );
    const { facts } = await one.listFacts(SUBJECT, { category });
    const left = facts.map(({ key, value }) => `${key}: ${value}`).sort();
    const isRight = `${left}` === `${[`${changed}: unseen`, `${late}: unseen`]}`;
    return [
      ...(ended.every((how) => how === "done") ? [] : [`${ended}`]),
      ...(isRight ? [] : [`left: ${left}`]),
    ];
  },
  "two pins where one more has room": async ([one, other], round) => {
    const subject = `pins-${round}`;
    for (let at = 0; at < 11; at++) await one.storeFact(subject, { key: `k${at}`, value: "x" });
    for (let at = 0; at < 9; at++) await one.pinFact(subject, { key: `k${at}` });
    const ended = await overlapping(
      () => one.pinFact(subject, { key: "k9" }),
      () => other.pinFact(subject, { key: "k10" }),
    );
    const { facts } = await one.listFacts(subject, { pinned: true });
    return [
      ...onlyOneOf(ended, "invalid_input"),
      ...(facts.length === 10 ? [] : [`pinned: ${facts.length}`]),
    ];
  },
  "stores under two keys that look alike": async ([one, other], round) => {
    const ended = await overlapping(
      () => one.storeFact(SUBJECT, { key: `deploy/${round}`, value: "latin" }),
      () => other.storeFact(SUBJECT, { key: `d\u0435ploy/${round}`, value: "cyrillic" }),
    );
    return onlyOneOf(ended, "invalid_input");
  },
};

// verifies P-condition-judged P-text-lookalikes P-pin-limits
export function describeRaces(name: string, open: () => Promise<Racers>): void {
  const rounds = sized(10, 1_000);
  describe(`two memories over ${name}`, () => {
    test.each(Object.entries(RACES))(
      "%s: one passes, and nothing unseen is lost",
      async (_, race) => {
        const racers = await open();
        const wrong: string[] = [];
        for (let round = 0; round < rounds; round++) {
          const [one, other] = racers;
          wrong.push(...(await race(round % 2 === 0 ? racers : [other, one], round)));
        }
        expect(wrong).toEqual([]);
      },
      sized(60_000, 3_600_000),
    );
  });
}

/** How each ended: "done", or the code of its error. */
function overlapping(...works: readonly (() => Promise<unknown>)[]): Promise<readonly string[]> {
  return Promise.all(
    works.map((work) =>
      work().then(
        () => "done",
        (error: unknown) => (isHelmdeckError(error) ? error.code : String(error)),
      ),
    ),
  );
}

function onlyOneOf(ended: readonly string[], refusal: string): readonly string[] {
  return `${[...ended].sort()}` === `${[refusal, "done"].sort()}` ? [] : [`${ended}`];
}
