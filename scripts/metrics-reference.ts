/** Writes the list of metrics into docs/reference/metrics.md: `node scripts/metrics-reference.ts`. */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { makeMetrics } from "../server/metrics.ts";

export const METRICS_PAGE = fileURLToPath(new URL("../docs/reference/metrics.md", import.meta.url));

const BLOCK = /(<!-- metrics -->\n\n)[^<]*(<!-- metrics: end -->)/;
const OWN = /^# HELP (helmdeck_\S+) (.*)\n# TYPE \S+ (\S+)/gm;

/** The page with the current names and sentences. */
export async function withCurrentMetrics(page: string): Promise<string> {
  const failed = { code: "store_unavailable", message: "" } as const;
  const status = { state: "failed", databasePath: "", keySource: "", driver: "", mode: "keyword" } as const;
  const metrics = makeMetrics({
    memory: { status: async () => ({ ...status, error: failed }) },
    memoryState: { state: "ephemeral", warning: "" },
  });
  metrics.watchProcess(async () => 0);
  const rows = [...(await metrics.text()).matchAll(OWN)].map(
    ([, name, help, type]) => `| \`${name}\` | ${type} | ${help} |`,
  );
  const table = ["| metric | kind | what it says |", "|---|---|---|", ...rows.sort()].join("\n");
  return page.replace(BLOCK, (_block, begin: string, end: string) => `${begin}${table}\n\n${end}`);
}

if (import.meta.main)
  writeFileSync(METRICS_PAGE, await withCurrentMetrics(readFileSync(METRICS_PAGE, "utf8")));
