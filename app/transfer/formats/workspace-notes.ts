/** Finds OpenClaw's notes in a workspace. */

/** The workspace files that are notes; `names` are paths in the folder, with "/". */
export function workspaceNotes(names: readonly string[]): readonly string[] {
  const own = ["MEMORY.md", "USER.md"].filter((name) => names.includes(name));
  const daily = names.filter((name) => /^memory\/[^/]+\.md$/i.test(name));
  return [...own, ...daily.toSorted()];
}
