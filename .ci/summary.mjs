// Prints what each part took, and one closing line for the whole as vitest prints it for each of its runs.
// usage: node .ci/summary.mjs FOLDER, with parts.tsv (name, ending, seconds) and vitest's JSON reports in it
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const [folder = "."] = process.argv.slice(2);
const parts = readFileSync(join(folder, "parts.tsv"), "utf8")
  .trim()
  .split("\n")
  .map((line) => line.split("\t"));
const files = readdirSync(folder)
  .filter((name) => name.endsWith(".json"))
  .flatMap((name) => JSON.parse(readFileSync(join(folder, name), "utf8")).testResults);

console.log("");
for (const [name, ending, seconds] of parts)
  console.log(`${name.padEnd(28)} ${ending}  ${seconds.padStart(5)} s`);
console.log("");
console.log(` Test Files  ${counted(files.map(endingOfFile))}`);
console.log(
  `      Tests  ${counted(files.flatMap((file) => file.assertionResults.map(({ status }) => endingOf(status))))}`,
);
console.log(`   Duration  ${parts.reduce((sum, [, , seconds]) => sum + Number(seconds), 0)}s`);
if (parts.some(([, ending]) => ending !== "passed")) process.exitCode = 1;

function endingOfFile({ status, assertionResults }) {
  if (status === "failed") return "failed";
  return assertionResults.every((test) => endingOf(test.status) === "skipped") ? "skipped" : "passed";
}

/** vitest calls what was left out by many names. */
function endingOf(status) {
  return status === "passed" || status === "failed" ? status : "skipped";
}

/** "1 failed | 2 passed (3)", without what there is none of. */
function counted(endings) {
  const each = ["failed", "passed", "skipped"].flatMap((ending) => {
    const count = endings.filter((one) => one === ending).length;
    return count > 0 || ending === "passed" ? `${count} ${ending}` : [];
  });
  return `${each.join(" | ")} (${endings.length})`;
}
