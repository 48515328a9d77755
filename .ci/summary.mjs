// Prints the duration of each part, the failures, and totals for all runs in vitest's format. It repeats the
// failures because the report of a long run may be cut off.
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
  console.log(`${name.padEnd(28)} ${ending.padEnd(11)} ${seconds.padStart(5)} s`);
for (const failure of files.flatMap(failuresOf)) console.log(`\n${failure}`);
console.log("");
console.log(` Test Files  ${summary(files.map(endingOfFile))}`);
console.log(
  `      Tests  ${summary(files.flatMap((file) => file.assertionResults.map(({ status }) => endingOf(status))))}`,
);
console.log(`   Duration  ${parts.reduce((sum, [, , seconds]) => sum + Number(seconds), 0)}s`);
if (parts.some(([, ending]) => ending === "failed")) process.exitCode = 1;

function endingOfFile({ status, assertionResults }) {
  if (status === "failed") return "failed";
  return assertionResults.every((test) => endingOf(test.status) === "skipped") ? "skipped" : "passed";
}

/** Each failed test of a file with its messages, or the file's own message if it failed before its tests. */
function failuresOf({ name, status, message, assertionResults }) {
  const failed = assertionResults.filter((test) => test.status === "failed");
  if (failed.length === 0) return status === "failed" ? [section(name, [message])] : [];
  return failed.map((test) => section(`${name} > ${test.fullName}`, test.failureMessages));
}

function section(name, messages) {
  return [`FAILED ${name}`, ...messages.flatMap((message) => message.split("\n").slice(0, 40))].join(
    "\n    ",
  );
}

/** vitest has several names for skipped tests. */
function endingOf(status) {
  return status === "passed" || status === "failed" ? status : "skipped";
}

/** "1 failed | 2 passed (3)", without zero counts. */
function summary(endings) {
  const each = ["failed", "passed", "skipped"].flatMap((ending) => {
    const count = endings.filter((one) => one === ending).length;
    return count > 0 || ending === "passed" ? `${count} ${ending}` : [];
  });
  return `${each.join(" | ")} (${endings.length})`;
}
