/** When two values say the very same, for a review and for an import; and which values make a claim that can be compared. */
import { createHash } from "node:crypto";
import { Claim, type FactText, type Stem } from "../recall/claims.ts";

/** A longer text is a document: it is compared as it stands, and makes no claim. */
const LONGEST = 1_000;
const EMPHASIS = /(\*{1,3}|`+)(\S|\S[^\n*`]*\S)\1/g;
const END = /[.!;,\s]+$/;

/** Equal for texts that differ only in emphasis, capitals, blanks, or the sign at their end. */
export function digestOfText(value: string): string {
  const text = value.length > LONGEST ? value : plainText(value);
  return createHash("sha256").update(text).digest("base64");
}

/** Undefined for a document. */
export function claimOf(fact: FactText, stem?: Stem): Claim | undefined {
  return fact.value.length > LONGEST ? undefined : new Claim(fact, stem);
}

function plainText(value: string): string {
  const plain = value.normalize("NFKC").replace(EMPHASIS, "$2").toLowerCase().replaceAll(/\s+/g, " ").trim();
  return plain.replace(END, "") || plain;
}
