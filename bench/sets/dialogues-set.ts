/** The set of dialogues of test/data: what ten people write to an agent that remembers facts of theirs. */
import { z } from "zod";
import { half, readSet, text } from "./read-set.ts";

/** One fact of the memory that all dialogues of one person share. */
const fact = z.strictObject({ half, memory: text, key: text, value: text });

/** `helps`: the keys of the facts that make the answer better. Often none. */
const message = z.strictObject({ text, helps: z.array(text) });

const dialogue = z.strictObject({ half, memory: text, messages: z.array(message).min(1).max(3) });

export function readDialogues() {
  return {
    facts: readSet("dialogue-memories", fact),
    dialogues: readSet("dialogues", dialogue),
  };
}
