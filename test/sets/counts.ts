/** What the tests of the sets count. */
export function repeated(texts: readonly string[]): readonly string[] {
  const plain = texts.map((text) =>
    text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
      .trim(),
  );
  return plain.filter((text, place) => plain.indexOf(text) !== place);
}

export function counts(names: readonly string[]): Readonly<Record<string, number>> {
  return Object.fromEntries([...Map.groupBy(names, (name) => name)].map(([name, of]) => [name, of.length]));
}
