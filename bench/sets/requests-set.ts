/** The set of requests of test/data: messages that plainly ask to remember something, and junk that resembles them. */
import { z } from "zod";
import { half, readSet, text } from "./read-set.ts";

const language = z.enum(["en", "de", "es", "fr"]);

/** `keep` is the part of the message to keep: what it says without the words that ask. */
const request = z.strictObject({ half, language, kind: z.literal("request"), message: text, keep: text });

/** Nothing of it may be kept. */
const junk = z.strictObject({
  half,
  language,
  kind: z.enum([
    "question",
    "quotation",
    "code",
    "one-off",
    "reported",
    "negation",
    "long",
    "sarcasm",
    "hypothetical",
    "recollection",
  ]),
  message: text,
});

const message = z.discriminatedUnion("kind", [request, junk]);

export function readRequests() {
  return readSet("requests", message);
}
