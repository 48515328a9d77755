/** Reads the list of mutants (test/mutants/README.md), and applies one to a copy of the tree. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";

const edit = z.strictObject({
  file: z.string(),
  /** Must occur in the file exactly once; indentation is ignored. */
  find: z.string().min(1),
  replace: z.string(),
});

const entry = z.strictObject({
  name: z.string().regex(/^[a-z0-9-]+$/),
  /** The promise of docs/promises.md that would not hold. */
  breaks: z.string().regex(/^P-[a-z0-9-]+$/),
  /** The test file, optionally with vitest's name pattern: `FILE -t "PATTERN"`. */
  test: z.string().regex(/^\S+( -t ".+")?$/),
  edits: z.array(edit).min(1),
});

export type Edit = z.infer<typeof edit>;

export interface Mutant {
  readonly name: string;
  readonly breaks: string;
  readonly test: { readonly file: string; readonly name?: string };
  readonly edits: readonly Edit[];
}

/** All mutants of a folder's YAML files, sorted by file name. Throws for a malformed file and for a repeated name. */
export async function readMutants(folder: string): Promise<readonly Mutant[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith(".yaml")).sort();
  const lists = await Promise.all(files.map((file) => readList(join(folder, file))));
  const mutants = lists.flat().sort((one, other) => (one.name < other.name ? -1 : 1));
  const twice = mutants.find(({ name }, place) => mutants[place + 1]?.name === name);
  if (twice !== undefined) throw new Error(`two mutants are called ${twice.name}`);
  return mutants;
}

async function readList(path: string): Promise<readonly Mutant[]> {
  const parsed = z.array(entry).safeParse(parse(await readFile(path, "utf8")));
  if (!parsed.success) throw new Error(`${path}: ${z.prettifyError(parsed.error)}`);
  return parsed.data.map(({ test, ...mutant }) => {
    const [, file = test, name] = /^(\S+)(?: -t "(.+)")?$/.exec(test) ?? [];
    return { ...mutant, test: { file, ...(name === undefined ? {} : { name }) } };
  });
}

/** Changes the files below `root`. Returns undefined, or the reason why an edit does not apply. */
export async function applyEdits(edits: readonly Edit[], root: string): Promise<string | undefined> {
  for (const { file, find, replace } of edits) {
    const path = join(root, file);
    const content = await readFile(path, "utf8").catch(() => undefined);
    if (content === undefined) return `there is no ${file}`;
    const places = [...content.matchAll(patternOf(find))];
    const [place] = places;
    if (place === undefined || places.length > 1) return `${file} has it ${places.length} times, not once`;
    await writeFile(
      path,
      content.replace(place[0], () => replace),
    );
  }
  return undefined;
}

/** Ignores indentation, so that moving code does not break a mutant. */
function patternOf(find: string): RegExp {
  const lines = find.trim().split(/\s*\n\s*/);
  return new RegExp(lines.map((line) => RegExp.escape(line)).join("\\s*\\n\\s*"), "g");
}
