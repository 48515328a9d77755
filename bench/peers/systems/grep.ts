/** `grep` for the words of the question in a folder of notes. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { keywordsOf } from "../mcp.ts";
import { removeNote, writeNote } from "../notes.ts";
import type { Answer, System } from "../system.ts";

const SHOWN = 10;

export const grep: System = {
  id: "grep",
  title: "grep",
  version: "the machine's",
  settings: "https://www.gnu.org/software/grep/manual/grep.html",
  note: "The words of the question without the commonest ones; the ten notes with the most different words, as an agent that ranks them would read them.",
  groups: ["recall", "costs", "care"],
  start(place) {
    const root = mkdtempSync(join(tmpdir(), "helmdeck-grep-"));
    const folderOf = (agent: string) => join(root, agent);
    for (const [agent, facts] of Object.entries(place.memory))
      for (const fact of facts) writeNote(folderOf(agent), fact);
    const nowhere = () => Promise.resolve();
    return Promise.resolve({
      root,
      ways: { "own tool": (agent, question) => Promise.resolve(search(folderOf(agent), question)) },
      store: async (agent, fact) => writeNote(folderOf(agent), fact),
      forget: async (agent, fact) => removeNote(folderOf(agent), fact),
      ready: nowhere,
      crash: nowhere,
      end: nowhere,
      pids: () => Promise.resolve([]),
      stop: async () => rmSync(root, { recursive: true, force: true }),
    });
  },
};

function search(folder: string, question: string): Answer {
  const words = keywordsOf(question);
  const lines = grepped(
    folder,
    words.flatMap((word) => ["-e", word]),
  );
  const counts = new Map<string, { words: Set<string>; lines: string[] }>();
  for (const line of lines) {
    const [path = "", text = ""] = [
      line.slice(0, line.indexOf(".md:") + 3),
      line.slice(line.indexOf(".md:") + 4),
    ];
    const of = counts.get(path) ?? { words: new Set(), lines: [] };
    for (const word of words) if (text.toLowerCase().includes(word)) of.words.add(word);
    of.lines.push(text);
    counts.set(path, of);
  }
  const best = [...counts].sort(([, left], [, right]) => right.words.size - left.words.size).slice(0, SHOWN);
  const hits = best.map(([path, of]) => ({ text: `${basename(path, ".md")}\n${of.lines.join("\n")}` }));
  return { hits, text: hits.map(({ text }) => text).join("\n") };
}

function grepped(folder: string, words: readonly string[]): readonly string[] {
  if (words.length === 0) return [];
  const { stdout } = spawnSync("grep", ["-r", "-i", "-F", ...words, folder], { encoding: "utf8" });
  return stdout.split("\n").filter((line) => line !== "");
}
