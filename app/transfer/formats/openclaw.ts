/**
 * OpenClaw's notes, as documented for a workspace (docs/concepts/memory.md, docs/concepts/user-model.md and the template of
 * USER.md in 2026.9.6): `MEMORY.md`, `USER.md` and the daily notes in `memory/`.
 *
 * A comment before a directive of USER.md says when it was observed and whether it is still valid; superseded ones are skipped.
 */
import { basename } from "node:path";
import { HelmdeckError } from "../../../engine/errors.ts";
import { readDay } from "../../../engine/rfc3339.ts";
import type { ImportFile, ReadItems } from "./format.ts";
import { type About, notesOfFile } from "./markdown.ts";
import type { MarkdownItem } from "./markdown-items.ts";
import { keyOfParts, Repetitions, slugOf } from "./note-keys.ts";

const DAILY_CATEGORY = "daily_notes";
const DAILY = /^(\d{4}-\d\d-\d\d)(?:-(.*))?\.md$/i;
const OBSERVED = /\bobserved:\s*([^|\s]+)/;
const STATUS = /\bstatus:\s*([a-z]+)/;

export const readOpenClaw: ReadItems = async function* (files, context) {
  const repetitions = new Repetitions();
  const known = files.map((file) => ({ file, ...kindOf(file) })); // checks all names before reading the first file
  for (const { file, root, about } of known) yield* notesOfFile(file, { root, repetitions, about }, context);
};

function kindOf({ name }: ImportFile): { readonly root: string; readonly about: About } {
  const base = basename(name);
  if (base === "MEMORY.md") return { root: "memory", about: () => ({}) };
  if (base === "USER.md") return { root: "user", about: aboutDirective };
  const [, day = "", slug = ""] = DAILY.exec(base) ?? [];
  const at = readDay(day);
  if (at !== undefined) {
    const root = keyOfParts(["daily", [day, slugOf(slug)].filter((part) => part !== "").join("-")]);
    return { root, about: () => ({ category: DAILY_CATEGORY, createdAt: at, updatedAt: at }) };
  }
  if (/(^|\/)memory\/[^/]+\.md$/i.test(name.replaceAll("\\", "/"))) {
    return { root: keyOfParts(["memory", slugOf(base.replace(/\.md$/i, ""))]), about: () => ({}) };
  }
  throw new HelmdeckError(
    "invalid_input",
    `${name} is not one of OpenClaw's notes: give a workspace folder, MEMORY.md, USER.md or memory/YYYY-MM-DD.md; use --from markdown for other Markdown.`,
  );
}

function aboutDirective({ comment = "" }: MarkdownItem): ReturnType<About> {
  const [, observed = ""] = OBSERVED.exec(comment) ?? [];
  if (STATUS.exec(comment)?.[1] === "superseded") return { leftOut: "a superseded directive" };
  if (observed === "YYYY-MM-DD") return { leftOut: "the template's example" };
  const at = readDay(observed);
  return { createdAt: at, updatedAt: at };
}
