// Prints the files that failed in vitest's JSON report, one per line, if they are at most two and explain why the run failed.
// usage: node .ci/failed-files.mjs REPORT
import { existsSync, readFileSync } from "node:fs";

const MOST = 2;
const [report = ""] = process.argv.slice(2);
// Without a report, the run failed before its tests, for example in `npm run check`.
const files = existsSync(report) ? JSON.parse(readFileSync(report, "utf8")).testResults : [];
const failed = [...new Set(files.filter(({ status }) => status === "failed").map(({ name }) => name))];
if (failed.length <= MOST) for (const name of failed) console.log(name);
