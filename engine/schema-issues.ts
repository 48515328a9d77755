/** Describes schema violations by names and limits, never by the refused value. */
import type { $ZodIssue } from "zod/v4/core";
import { harmlessLine } from "./facts/hostile-text.ts";

const FIELD_CHARACTERS = 80;

/** The path of the field, as `a.b.0`; empty for the root. */
export function fieldOf(issue: $ZodIssue): string {
  const path = issue.code === "unrecognized_keys" ? [...issue.path, issue.keys[0] ?? ""] : issue.path;
  return harmlessLine(path.map(String).join(".")).slice(0, FIELD_CHARACTERS);
}

/**
 * The violated rule, to be read after the field's name; in the schema author's words if there are any. Needs zod's `reportInput`
 * to tell missing from wrong.
 */
export function ruleOf(issue: $ZodIssue | undefined): string {
  if (issue?.code === "unrecognized_keys") return "is not a known field; leave it out";
  if (issue?.code === "invalid_type" && issue.input === undefined) return "is missing";
  // The library's own messages depend on its locale.
  const isUnnamed = issue?.code === "invalid_type" && issue.message.startsWith("Invalid input");
  return isUnnamed ? `must be of type ${issue.expected}` : (issue?.message ?? "is malformed");
}
