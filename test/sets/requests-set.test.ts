/** The properties of the set of requests: sizes, languages, balanced halves, what is to be kept, no duplicates. */
import { describe, expect, test } from "vitest";
import { readRequests } from "../../bench/sets/requests-set.ts";
import { kindOfSecret } from "../../engine/facts/secrets.ts";
import { counts, repeated } from "./counts.ts";

const messages = readRequests();
const requests = messages.filter(({ kind }) => kind === "request");
const junk = messages.filter(({ kind }) => kind !== "request");
/** Longer messages are never kept. */
const LONGEST_REQUEST = 300;

describe("the set of requests", () => {
  test("has 30 requests and 45 pieces of junk in each language", () => {
    expect(counts(requests.map(({ language }) => language))).toEqual({ en: 30, de: 30, es: 30, fr: 30 });
    expect(counts(junk.map(({ language }) => language))).toEqual({ en: 45, de: 45, es: 45, fr: 45 });
  });

  test("has 18 pieces of junk of each of ten kinds", () => {
    const kinds = counts(junk.map(({ kind }) => kind));
    expect(Object.keys(kinds)).toHaveLength(10);
    expect(new Set(Object.values(kinds))).toEqual(new Set([18]));
  });

  test("is halved within each kind, and within each language but for one", () => {
    const held = messages.filter(({ half }) => half === "held");
    const ofHeld = counts(held.map(({ kind }) => kind));
    for (const [kind, number] of Object.entries(counts(messages.map((one) => one.kind)))) {
      expect(ofHeld[kind], kind).toBe(number / 2);
    }
    const junkOfHeld = held.filter(({ kind }) => kind !== "request").map(({ language }) => language);
    for (const number of Object.values(counts(junkOfHeld))) expect([22, 23]).toContain(number);
    const asked = held.filter(({ kind }) => kind === "request").map(({ language }) => language);
    expect(counts(asked)).toEqual({ en: 15, de: 15, es: 15, fr: 15 });
  });

  test("keeps only words of each request, never all of it", () => {
    for (const one of messages) {
      if (one.kind !== "request") continue;
      expect(one.message.length).toBeLessThanOrEqual(LONGEST_REQUEST);
      for (const word of one.keep.split(/[„“ ]+/u))
        expect(one.message.toLowerCase(), one.message).toContain(word.toLowerCase());
      expect(one.keep.length).toBeLessThan(one.message.length);
    }
  });

  test("has long junk that exceeds the limit, and no other message that does", () => {
    for (const { kind, message } of messages) {
      expect(message.length > LONGEST_REQUEST, message).toBe(kind === "long");
    }
  });

  test("has no duplicates", () => {
    expect(repeated(messages.map(({ message }) => message))).toEqual([]);
  });

  test("has nothing to keep that looks like a credential", async () => {
    for (const one of messages) {
      if (one.kind === "request") expect(await kindOfSecret(one.keep), one.keep).toBeUndefined();
    }
  });
});
