/** Compares texts by UTF-16 code units, which gives the same order in every locale. */
export function compareText(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
