/** The sets of test/data of what people write to an agent that remembers facts of theirs: dialogues of ten, and single messages of two. */
import { z } from "zod";
import { half, readSet, text } from "./read-set.ts";

/** One fact of the memory that all dialogues of one person share. */
const fact = z.strictObject({ half, memory: text, key: text, value: text });

/** `helps`: the keys of the facts that make the answer better. Often none. */
const message = z.strictObject({ text, helps: z.array(text) });

const dialogue = z.strictObject({ half, memory: text, messages: z.array(message).min(1).max(3) });

/** The facts of `life` and of `people` are sets of their own. */
const single = z.strictObject({
  half: z.literal("held"),
  memory: z.enum(["life", "people"]),
  ...message.shape,
});

export function readMessages() {
  return readSet("messages", single);
}

export function readDialogues() {
  return {
    facts: readSet("dialogue-memories", fact),
    dialogues: readSet("dialogues", dialogue),
  };
}
