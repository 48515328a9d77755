/** What a schema objects to, in words that hold names and limits, but never the value that was refused. */
import type { $ZodIssue } from "zod/v4/core";
import { harmlessLine } from "./facts/hostile-text.ts";

const FIELD_CHARACTERS = 80;

/** Where, as `a.b.0`; empty for the whole. */
export function fieldOf(issue: $ZodIssue): string {
  const path = issue.code === "unrecognized_keys" ? [...issue.path, issue.keys[0] ?? ""] : issue.path;
  return harmlessLine(path.map(String).join(".")).slice(0, FIELD_CHARACTERS);
}

/** Which rule, to be read after the field; in the schema author's words where there are any. Needs zod's `reportInput` to tell what is missing from what is wrong. */
export function ruleOf(issue: $ZodIssue | undefined): string {
  if (issue?.code === "unrecognized_keys") return "is not a field of it; leave it out";
  if (issue?.code === "invalid_type" && issue.input === undefined) return "is missing";
  // The library's own words differ with the language that it was loaded with.
  const isUnnamed = issue?.code === "invalid_type" && issue.message.startsWith("Invalid input");
  return isUnnamed ? `must be of type ${issue.expected}` : (issue?.message ?? "is malformed");
}
