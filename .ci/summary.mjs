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
const reports = readdirSync(folder).filter((name) => name.endsWith(".json"));
const isSecond = (report) => report.endsWith("-again.json");
const files = reports.filter((report) => !isSecond(report)).flatMap(filesIn);
/** The results of failed files that ran once more. */
const second = reports.filter(isSecond).flatMap(filesIn);

console.log("");
for (const [name, ending, seconds] of parts)
  console.log(`${name.padEnd(28)} ${ending.padEnd(11)} ${seconds.padStart(5)} s`);
for (const failure of files.flatMap(failuresOf)) console.log(`\n${failure}`);
console.log("");
console.log(` Test Files  ${summary(files.map(endingOfFile))}`);
console.log(
  `      Tests  ${summary(files.flatMap((file) => file.assertionResults.map(({ status }) => endingOfTest(file.name, status))))}`,
);
console.log(`   Duration  ${parts.reduce((sum, [, , seconds]) => sum + Number(seconds), 0)}s`);

function filesIn(report) {
  return JSON.parse(readFileSync(join(folder, report), "utf8")).testResults;
}

/** True if the file failed, and passed when it ran once more. */
function isFlaky(name) {
  const results = second.filter((file) => file.name === name);
  return results.length > 0 && results.every(({ status }) => status === "passed");
}

function endingOfFile({ name, status, assertionResults }) {
  if (status === "failed") return isFlaky(name) ? "flaky" : "failed";
  return assertionResults.every((test) => endingOf(test.status) === "skipped") ? "skipped" : "passed";
}

/** Each failed test of a file with its messages, or the file's own message if it failed before its tests. */
function failuresOf({ name, status, message, assertionResults }) {
  const failed = assertionResults.filter((test) => test.status === "failed");
  const title = isFlaky(name) ? `FLAKY (passed when it ran once more) ${name}` : `FAILED ${name}`;
  if (failed.length === 0) return status === "failed" ? [section(title, [message])] : [];
  return failed.map((test) => section(`${title} > ${test.fullName}`, test.failureMessages));
}

function section(title, messages) {
  return [title, ...messages.flatMap((message) => message.split("\n").slice(0, 40))].join("\n    ");
}

/** vitest has several names for skipped tests. */
function endingOf(status) {
  return status === "passed" || status === "failed" ? status : "skipped";
}

function endingOfTest(file, status) {
  return status === "failed" && isFlaky(file) ? "flaky" : endingOf(status);
}

/** "1 failed | 2 passed (3)", without zero counts. */
function summary(endings) {
  const each = ["failed", "flaky", "passed", "skipped"].flatMap((ending) => {
    const count = endings.filter((one) => one === ending).length;
    return count > 0 || ending === "passed" ? `${count} ${ending}` : [];
  });
  return `${each.join(" | ")} (${endings.length})`;
}
