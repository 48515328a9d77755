/**
 * Texts that others wrote are read in linear time, however they are made: notes, pages, values, messages, imported files. At these
 * sizes, what grows with the square of a length takes minutes.
 */
import { expect, test } from "vitest";
import { firstWords } from "../../app/presenters/words.ts";
import { Phrases } from "../../app/traces/phrases.ts";
import { categoryOf } from "../../app/transfer/formats/helmdeck/entries.ts";
import { READERS } from "../../app/transfer/formats/readers.ts";
import { problemOfJson } from "../../app/wire/strict-json.ts";
import { problemOfName } from "../../engine/facts/hostile-text.ts";
import { nearestKeys } from "../../engine/facts/near.ts";
import { kindOfSecret } from "../../engine/facts/secrets.ts";
import { quotedKey, quotedText } from "../../engine/projections/frame.ts";
import { namespaceOf } from "../../engine/store/namespace.ts";
import { storedItself } from "../../plugin/capture-hook.ts";
import { placedRunsOf, separateWordsOf, umlautSpellings } from "../../recall/analysis/words.ts";
import { passagesOf } from "../../recall/lexical/indexed-document.ts";

const CHARACTERS = 256 * 1024;
/** Linear functions take less than one, also on a busy machine. */
const MOST_SECONDS = 10;

const of = (unit: string, end = "") => unit.repeat(Math.ceil(CHARACTERS / unit.length)) + end;
const TEXTS: Readonly<Record<string, string>> = {
  backslashes: of("\\"),
  "escaped quotes": of('\\"'),
  "marks of one letter": `a${of("\u0301\u0316")}`,
  "marks that are letters": `a${of("\uff9e\u0301")}`,
  "a heading of marks, and a list": `## a${of("\u0301\u0316")}\n${of("- b\n")}`,
  "a long heading, and a list": `## ${of("abc ")}\n${of("- b\n")}`,
  emphasis: of("a**b"),
  links: of("](<a"),
  "runs of backticks, each shorter": Array.from({ length: 700 }, (_, at) => "`".repeat(700 - at)).join(" "),
  comments: of("<!--"),
  entities: of("&#x2028;"),
  blanks: of(" ", "x"),
  "line ends": of("\n>"),
  "nested quotations": of("> "),
  "numbers with commas": of("1,"),
  "invisible characters": of("\u200b"),
  "joined emoji": of("👩\u200d"),
  "halves of pairs": of("\ud800"),
  "beginnings of tokens": of("eyJ-"),
  "wide ligatures": of("\ufdfa"),
};

const about = { namespace: namespaceOf("main"), now: 0 };
const READ: Readonly<Record<string, (text: string) => unknown>> = {
  "phrases of a value": (text) => Phrases.ofValues([text]),
  "phrases in a note": (text) => Phrases.ofValues(["The spare key of the cabin"]).isIn(text),
  "words of a text": separateWordsOf,
  "runs of a text": placedRunsOf,
  "spellings of a word": umlautSpellings,
  "passages of a text": (text) => passagesOf(text, 0, text.length, 1),
  "a text in a frame": (text) => [quotedText(text), quotedText(text, text.length / 2), quotedKey(text, 80)],
  "a name": problemOfName,
  "first words": firstWords,
  "keys like a name": (text) => nearestKeys(text, ["deploy/preference"]),
  credentials: kindOfSecret,
  "a body in JSON": (text) => problemOfJson(JSON.stringify({ [text]: text })),
  "a category of helmdeck": categoryOf,
  "messages of a run": (text) =>
    storedItself([{ role: "user", content: text }, callOf(text), callOf(`memory ${text}`)], text),
  "Markdown to import": (text) => readAll("markdown", "a.md", text),
  "a workspace's note to import": (text) => readAll("openclaw", "memory/2026-11-21.md", text),
  "an export of mem0": (text) => readAll("mem0", "a.json", JSON.stringify([{ memory: text, user_id: text }])),
};

const callOf = (text: string) => ({
  role: "assistant",
  content: [{ type: "toolCall", name: text, arguments: { text } }],
});

async function readAll(format: "markdown" | "openclaw" | "mem0", name: string, text: string) {
  const file = {
    name,
    open: () =>
      (async function* () {
        yield Buffer.from(text);
      })(),
  };
  let items = 0;
  for await (const _ of READERS[format]([file], about)) items += 1;
  return items;
}

test.each(Object.entries(READ))("%s", async (_, read) => {
  const slow: string[] = [];
  for (const [name, text] of Object.entries(TEXTS)) {
    const began = performance.now();
    await read(text);
    if (performance.now() - began > 1_000 * MOST_SECONDS) slow.push(name);
  }
  expect(slow).toEqual([]);
});
