/**
 * How facts show which import brought them: by a tag, `import:<id>`, that an import alone sets.
 *
 * A forget of an import goes by it. So whoever stores a fact anew takes it over: the tag is left off, and a forget of the
 * import does not touch what was written since.
 */
import { invalidField } from "../errors.ts";

const PREFIX = "import:";
/** What `makeImportId` makes, and any other that fits into a tag. */
const ID = /^[a-z0-9][a-z0-9-]{0,56}$/;

/** `id` has been checked. */
export function importTag(id: string): string {
  return `${PREFIX}${id}`;
}

export function isImportTag(tag: string): boolean {
  return tag.startsWith(PREFIX);
}

/** The ids of the imports that these tags name; a file may hold tags that only look like one. */
export function importsOf(tags: readonly string[]): readonly string[] {
  return tags
    .filter(isImportTag)
    .map((tag) => tag.slice(PREFIX.length))
    .filter((id) => ID.test(id));
}

/** The id, or `invalid_input`. */
export function checkImportId(id: string): string {
  if (ID.test(id)) return id;
  throw invalidField("scope", "names no import; helmdeck-memory imports lists them. Nothing was deleted");
}
