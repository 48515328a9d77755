/** `store`: one fact, from the argument, standard input or a file. */

import type { FactInput, StoredFact } from "../../app/memory.ts";
import { expiryFrom, localMinute } from "../../app/presenters/local-times.ts";
import { toWire } from "../../app/wire/codec.ts";
import { harmlessLine } from "../../engine/facts/hostile-text.ts";
import type { CommandContext } from "../command-line.ts";
import { embedStored } from "../embed-afterwards.ts";
import { EXIT_DONE } from "../exit-codes.ts";
import { inputSource, readText } from "../input.ts";
import { withMemoryToWrite } from "../with-memory.ts";

/** Twice the policy's limit for a value, which does not count surrounding white space. */
const READ_LIMIT_BYTES = 128 * 1024;

export interface StoreRequest {
  readonly key: string;
  readonly source: { readonly text: string } | { readonly path: string };
  readonly category?: string;
  readonly tags?: readonly string[];
  readonly ttlSeconds?: number;
  readonly supersedes?: readonly string[];
  /** What looks like a credential is stored all the same. */
  readonly allowSecret: boolean;
}

export async function storeCommand(context: CommandContext, request: StoreRequest): Promise<number> {
  const { source, allowSecret, ...fact } = request;
  return keepFact(context, { ...fact, value: await readValue(context, source) }, allowSecret);
}

/** Stores the fact, acknowledges it, and then tries to embed it. */
export async function keepFact(
  context: CommandContext,
  fact: FactInput,
  allowSecret: boolean,
): Promise<number> {
  const { caller } = context.options;
  const store = allowSecret ? "storeFactAllowingSecret" : "storeFact";
  await withMemoryToWrite(
    context,
    (memory) => memory[store](caller, fact, { surface: "cli", agent: caller }),
    async (memory, stored) => {
      await acknowledge(context, stored);
      await embedStored(memory, caller, stored.key);
    },
  );
  return EXIT_DONE;
}

async function acknowledge(context: CommandContext, stored: StoredFact): Promise<void> {
  if (context.options.json) return context.output.json(toWire(stored));
  await context.output.line(sentenceOf(stored, context));
  for (const note of alikeNotes(stored)) await context.output.note(note);
}

/** Notes about facts that may need correction. */
function alikeNotes({ superseded = [], sameAs = [], similar = [] }: StoredFact): readonly string[] {
  return [
    ...superseded.map((key) => `Retired: ${harmlessLine(key)}`),
    ...sameAs.map((key) => `The same value is stored under ${harmlessLine(key)}`),
    ...similar.map(({ key, value }) => `Similar: ${harmlessLine(key)}: ${value}`),
    ...(similar.length > 0 ? ["If one of these is outdated, store again with --supersedes KEY."] : []),
  ];
}

/** Reads the value from the command line, a file, or standard input. */
export async function readValue(
  { shell, output }: CommandContext,
  source: StoreRequest["source"],
): Promise<string> {
  if ("text" in source) return source.text;
  const isTyped = source.path === "-" && shell.stdin.isTTY === true;
  if (isTyped) await output.note("Type the value, then press Ctrl-D on a new line.");
  return readText(inputSource(shell, source.path), READ_LIMIT_BYTES);
}

function sentenceOf(stored: StoredFact, { shell, options }: CommandContext): string {
  const what = `${harmlessLine(stored.key)} (${stored.category}) for ${harmlessLine(options.caller)}`;
  const expiry = `It expires ${expiryFrom(shell.now(), stored.expiresAt)}, on ${localMinute(stored.expiresAt)}.`;
  if (stored.replaced === undefined) return `Stored ${what}. ${expiry}`;
  const before = localMinute(stored.replaced.updatedAt);
  return stored.replaced.refreshed
    ? `Refreshed ${what}: it has had this value since ${before}. ${expiry}`
    : `Stored ${what}, replacing the value of ${before}. ${expiry}`;
}
