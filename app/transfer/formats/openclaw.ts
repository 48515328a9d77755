/**
 * OpenClaw's own notes, as its documentation describes a workspace (docs/concepts/memory.md, docs/concepts/user-model.md and the
 * template of USER.md in 2026.9.6): `MEMORY.md`, `USER.md` and the daily notes in `memory/`.
 *
 * A comment before a directive of USER.md says when it was observed and whether it still holds; what was superseded is left out.
 */
import { basename } from "node:path";
import { HelmdeckError, type UnixMs } from "../../../engine/index.ts";
import { readTime } from "../transfer-times.ts";
import type { ImportFile, ReadItems } from "./format.ts";
import { type NoteFile, notesOfFile } from "./markdown.ts";
import type { MarkdownItem } from "./markdown-items.ts";
import { keyOfParts, NoteKeys, slugOf } from "./note-keys.ts";

const DAILY_CATEGORY = "daily_notes";
const DAILY = /^(\d{4}-\d\d-\d\d)(?:-(.*))?\.md$/i;
const OBSERVED = /\bobserved:\s*([^|\s]+)/;
const STATUS = /\bstatus:\s*([a-z]+)/;

export const readOpenClaw: ReadItems = async function* (files, context) {
  const keys = new NoteKeys();
  const known = files.map((file) => ({ file, ...kindOf(file) })); // all of them before the first is read
  for (const { file, root, about } of known) yield* notesOfFile(file, { root, keys, about }, context);
};

function kindOf({ name }: ImportFile): Pick<Required<NoteFile>, "root" | "about"> {
  const base = basename(name);
  if (base === "MEMORY.md") return { root: "memory", about: () => ({}) };
  if (base === "USER.md") return { root: "user", about: aboutDirective };
  const [, day = "", slug = ""] = DAILY.exec(base) ?? [];
  const at = dayOf(day);
  if (at !== undefined) {
    const root = keyOfParts(["daily", [day, slugOf(slug)].filter((part) => part !== "").join("-")]);
    return { root, about: () => ({ category: DAILY_CATEGORY, createdAt: at, updatedAt: at }) };
  }
  if (/(^|\/)memory\/[^/]+\.md$/i.test(name.replaceAll("\\", "/"))) {
    return { root: keyOfParts(["memory", slugOf(base.replace(/\.md$/i, ""))]), about: () => ({}) };
  }
  throw new HelmdeckError(
    "invalid_input",
    `${name} is none of OpenClaw's notes: give a workspace folder, MEMORY.md, USER.md or memory/YYYY-MM-DD.md; any other Markdown is read with --from markdown.`,
  );
}

function aboutDirective({ comment = "" }: MarkdownItem): ReturnType<Required<NoteFile>["about"]> {
  const [, observed = ""] = OBSERVED.exec(comment) ?? [];
  if (STATUS.exec(comment)?.[1] === "superseded") return { leftOut: "a superseded directive" };
  if (observed === "YYYY-MM-DD") return { leftOut: "the template's example" };
  const at = dayOf(observed);
  return { createdAt: at, updatedAt: at };
}

/** Its beginning, in UTC, so that it is the same wherever it is imported. */
function dayOf(day: string): UnixMs | undefined {
  return readTime(`${day}T00:00:00Z`);
}
