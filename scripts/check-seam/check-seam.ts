/**
 * Checks that only tests and the reviewed consumers (scripts/seam-consumers.json) import seam/.
 *
 *   npm run check:seam [-- --root FOLDER]
 *
 * Exit 0 if so; 1 with file, line and text of each forbidden import; 2 if there is nothing to check. For its limits see
 * docs/explanation/process-seam.md.
 */
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { filesToCheck, readConsumers } from "./files.ts";
import { type Hit, SeamImports } from "./imports.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

export interface Report {
  readonly files: number;
  readonly consumers: readonly string[];
  readonly hits: readonly Hit[];
}

/** Checks every source file under the root. Throws if the seam or the list is missing. */
export function checkSeam(root: string): Report {
  const consumers = readConsumers(root);
  const imports = new SeamImports(root);
  const files = filesToCheck(root, consumers);
  return {
    files: files.length,
    consumers,
    hits: files.flatMap((file) => imports.in(join(root, file), file)),
  };
}

function main(): number {
  const { values } = parseArgs({ options: { root: { type: "string", default: ROOT } } });
  let report: Report;
  try {
    report = checkSeam(resolve(values.root));
  } catch (error) {
    console.error(`check:seam cannot look: ${error instanceof Error ? error.message : String(error)}`);
    return 2;
  }
  const { hits, files, consumers } = report;
  for (const { file, line, text } of hits) console.error(`${file}:${line}: ${text}`);
  if (hits.length > 0) {
    console.error(
      `\n${hits.length} imports of seam/ from outside of tests and its consumers (${consumers.join(", ")}). ` +
        "The seam imports the engine, and nothing imports the seam back; a new consumer needs a review and a decision record.",
    );
    return 1;
  }
  console.log(
    `seam/ is imported by nobody but ${consumers.join(", ")} and tests (${files} other files looked at).`,
  );
  return 0;
}

if (import.meta.main) process.exitCode = main();
