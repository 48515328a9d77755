/** Suggests existing keys for a text that matched none. */
import { normalForm } from "../compare-text.ts";
import { citedPath, PATH_PREFIX, parsePath, withoutLines } from "../projections/paths.ts";

/** The most suggestions in an answer. */
const MOST_NEAR = 3;

/** Ranks of similarity, nearest first. */
const NEARNESS = { same: 0, sameButForm: 1, tail: 2, misspelt: 3, beginning: 4 } as const;
const FAR = 5;
/** Shorter prefixes match too many keys. */
const LEAST_BEGINNING = 3;
/** Longer texts are truncated before they are compared: the cost grows with the product of both lengths. */
const MOST_COMPARED = 128;

/**
 * The three keys nearest to a text. Can run in batches: pass the previous result together with the next keys. Ties keep their
 * order.
 */
export function nearestKeys(text: string, keys: readonly string[]): readonly string[] {
  // The text itself, and the text without its scope, line numbers, path frame and category.
  const named = citedPath(withoutScope(text));
  const place = parsePath(named);
  const inner = place === undefined ? withoutFrame(named) : `${place.category}/${place.key}`;
  const names = new Set([text, withoutScope(text), withoutLines(withoutScope(text)), inner, tailOf(inner)]);
  const wanted = { names, forms: [...new Set([...names].map(formOf))].filter((form) => form !== "") };
  return keys
    .map((key) => ({ key, nearness: nearnessOf(key, wanted) }))
    .filter(({ nearness }) => nearness < FAR)
    .sort((a, b) => a.nearness - b.nearness)
    .slice(0, MOST_NEAR)
    .map(({ key }) => key);
}

interface Wanted {
  readonly names: ReadonlySet<string>;
  readonly forms: readonly string[];
}

function withoutScope(text: string): string {
  return text.replace(/^\p{L}+\s*:\s*/u, "");
}

function withoutFrame(path: string): string {
  return path.startsWith(PATH_PREFIX) ? path.slice(PATH_PREFIX.length).replace(/\.md$/, "") : path;
}

function tailOf(docid: string): string {
  return docid.slice(docid.indexOf("/") + 1);
}

/** Normalizes a text: drops case, quotes, invisible letters, Unicode forms and the kind of separator. */
function formOf(text: string): string {
  return normalForm(text, "NFKC")
    .toLowerCase()
    .replaceAll(/[\p{Cf}"'`]/gu, "")
    .replaceAll(/[\s_.:/\\-]+/gu, "/")
    .replaceAll(/^\/|\/$/g, "");
}

function nearnessOf(key: string, { names, forms }: Wanted): number {
  if (names.has(key)) return NEARNESS.same;
  const form = formOf(key);
  if (form === "") return FAR;
  return Math.min(...forms.map((wanted) => nearnessOfForms(form, wanted)), FAR);
}

function nearnessOfForms(form: string, wanted: string): number {
  if (form === wanted) return NEARNESS.sameButForm;
  if (form.endsWith(`/${wanted}`) || wanted.endsWith(`/${form}`)) return NEARNESS.tail;
  if (isMisspelling(form, wanted)) return NEARNESS.misspelt;
  const begins = wanted.length >= LEAST_BEGINNING && form.startsWith(wanted);
  return begins || wanted.startsWith(`${form}/`) ? NEARNESS.beginning : FAR;
}

/** One slip in a short name, two in a longer one. */
function isMisspelling(one: string, other: string): boolean {
  const [shorter, longer] = [Math.min(one.length, other.length), Math.max(one.length, other.length)];
  const slips = shorter < 3 ? 0 : shorter < 8 ? 1 : 2;
  if (longer - shorter > slips || longer > MOST_COMPARED) return false;
  return areWithin(slips, one, other);
}

/**
 * Whether at most this many edits turn one text into the other: a letter deleted, inserted, replaced or swapped with its
 * neighbour (optimal string alignment). Computes only the band of the matrix within reach, and stops early.
 */
function areWithin(slips: number, one: string, other: string): boolean {
  let beforeLast: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let row = 1; row <= one.length; row += 1) {
    const current: number[] = Array(other.length + 1).fill(Number.POSITIVE_INFINITY);
    current[0] = row;
    let least = row;
    for (let column = Math.max(1, row - slips); column <= Math.min(other.length, row + slips); column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      const cost = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + (isSame ? 0 : 1),
        isSwapped ? at(beforeLast, column - 2) + 1 : Number.POSITIVE_INFINITY,
      );
      current[column] = cost;
      least = Math.min(least, cost);
    }
    if (least > slips) return false;
    beforeLast = last;
    last = current;
  }
  return at(last, other.length) <= slips;
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
