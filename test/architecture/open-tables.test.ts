/**
 * Tables whose names come from elsewhere: every object has a `constructor`, so a name is looked up in a Map, or among an object's own.
 */
import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const ROOT = new URL("../..", import.meta.url).pathname;
const MODULES = "engine,recall,sidecar,model,app,packs,seam,pages,server,commands,plugin,cli,install";
/** Their names are closed: the system's codes, a library's kinds of tokens, or what a pattern found. */
const CLOSED =
  /^(?:MEANINGS|LIGATURES|RATES|PACKED|SECONDS_PER|SENTENCES|TYPES|DEAD_ENDS|(?:READ_|WRITE_|LISTEN_)?TROUBLE)$/;
const TABLE = /^(export )?const ([A-Z_]+): Readonly<(?:Partial<)?Record<string,/gm;

test("a name from elsewhere is looked up among a table's own", () => {
  const files = globSync(`{${MODULES}}/**/*.ts`, { cwd: ROOT });
  const texts = files.map((file) => readFileSync(`${ROOT}/${file}`, "utf8"));
  const lookUps = texts.flatMap((text) =>
    [...text.matchAll(TABLE)].flatMap(([, exported, name = ""]) => {
      const lines = exported === undefined ? text.split("\n") : texts.join("\n").split("\n");
      const found = lines.filter((line) => new RegExp(`\\b${name}\\[`).test(line));
      return CLOSED.test(name) ? [] : found.filter((line) => !line.includes(`Object.hasOwn(${name},`));
    }),
  );
  expect(lookUps).toEqual([]);
});
