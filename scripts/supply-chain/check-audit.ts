/**
 * Asks npm's registry for known vulnerabilities of the locked packages.
 *
 *   npm run check:audit
 *
 * Exit 1 for an advisory of moderate severity or above that is not in EXCEPTIONS, and for an expired or unneeded exception.
 * Exit 3 if the registry does not answer: then nothing was checked. It needs the network, so `.ci/run` runs it, not
 * `npm run check`.
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import * as z from "zod";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const NOT_CHECKED = 3;
const SEVERITIES = ["info", "low", "moderate", "high", "critical"] as const;
const LEAST = SEVERITIES.indexOf("moderate");

export interface Exception {
  /** The id in the advisory's address, "GHSA-xxxx-xxxx-xxxx". */
  readonly advisory: string;
  readonly package: string;
  /** Why it is harmless here. */
  readonly reason: string;
  /** The last day of validity, "2027-01-31". */
  readonly until: string;
}

const EXCEPTIONS: readonly Exception[] = [];

const advisory = z.object({
  name: z.string(),
  title: z.string(),
  url: z.string(),
  severity: z.enum(SEVERITIES),
});
/** `via` has advisories, and names of vulnerable packages with their own entries. */
const report = z.object({
  vulnerabilities: z.record(z.string(), z.object({ via: z.array(z.union([z.string(), advisory])) })),
});

export type AuditVerdict =
  | { readonly kind: "not checked"; readonly why: string }
  | { readonly kind: "checked"; readonly problems: readonly string[] };

/** Evaluates the output of `npm audit --json`; `today` as "2026-11-22". */
export function judgeAudit(printed: string, exceptions: readonly Exception[], today: string): AuditVerdict {
  const { success, data } = report.safeParse(parsed(printed));
  if (!success) return { kind: "not checked", why: reasonIn(printed) };
  const advisories = advisoriesIn(data);
  const excepted = (one: z.infer<typeof advisory>) =>
    exceptions.find(
      (exception) => one.url.endsWith(`/${exception.advisory}`) && one.name === exception.package,
    );
  const needed = new Set(advisories.map(excepted));
  return {
    kind: "checked",
    problems: [
      ...advisories
        .filter((one) => excepted(one) === undefined)
        .map(({ name, severity, title, url }) => `${name}: ${severity}: ${title} (${url})`),
      ...exceptions
        .filter(({ until }) => !(today <= until))
        .map(
          ({ advisory, package: name, until }) => `${name}: the exception for ${advisory} ended on ${until}`,
        ),
      ...exceptions
        .filter((exception) => !needed.has(exception))
        .map(
          ({ advisory, package: name }) => `${name}: nothing needs the exception for ${advisory} any more`,
        ),
    ],
  };
}

/** Without duplicates. */
function advisoriesIn({ vulnerabilities }: z.infer<typeof report>): readonly z.infer<typeof advisory>[] {
  const all = Object.values(vulnerabilities)
    .flatMap(({ via }) => via)
    .filter((one) => typeof one !== "string")
    .filter(({ severity }) => SEVERITIES.indexOf(severity) >= LEAST);
  return [...new Map(all.map((one) => [`${one.name} ${one.url}`, one])).values()];
}

function parsed(printed: string): unknown {
  try {
    return JSON.parse(printed);
  } catch {
    return undefined;
  }
}

function reasonIn(printed: string): string {
  const failure = z.object({ message: z.string() }).safeParse(parsed(printed));
  return failure.data?.message ?? "npm audit gave no report";
}

function main(): number {
  const asked = spawnSync("npm", ["audit", "--json"], { cwd: ROOT, encoding: "utf8" });
  const verdict = judgeAudit(asked.stdout ?? "", EXCEPTIONS, new Date().toISOString().slice(0, 10));
  if (verdict.kind === "not checked") {
    console.error(`NOT CHECKED for known vulnerabilities: ${verdict.why}`);
    return NOT_CHECKED;
  }
  for (const problem of verdict.problems) console.error(problem);
  return verdict.problems.length === 0 ? 0 : 1;
}

if (import.meta.main) process.exitCode = main();
