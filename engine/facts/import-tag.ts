/**
 * Marks the facts of an import with a tag, `import:<id>`, which only an import can set.
 *
 * Forgetting an import selects by this tag. Storing a fact again removes the tag, so that forgetting the import keeps what was
 * written since.
 */
import { invalidField } from "../errors.ts";

const PREFIX = "import:";
/** Matches ids from `makeImportId`, and any other id that fits into a tag. */
const ID = /^[a-z0-9][a-z0-9-]{0,56}$/;

/** Expects a checked id. */
export function importTag(id: string): string {
  return `${PREFIX}${id}`;
}

export function isImportTag(tag: string): boolean {
  return tag.startsWith(PREFIX);
}

/** The import ids in these tags. A file may contain tags that only look like one. */
export function importsOf(tags: readonly string[]): readonly string[] {
  return tags
    .filter(isImportTag)
    .map((tag) => tag.slice(PREFIX.length))
    .filter((id) => ID.test(id));
}

/** Returns the id. Throws `invalid_input`. */
export function checkImportId(id: string): string {
  if (ID.test(id)) return id;
  throw invalidField(
    "scope",
    "is not the id of an import; list them with helmdeck-memory imports. Nothing was deleted",
  );
}
