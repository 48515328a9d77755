/** `npm run check:audit` and the registry's answers. */
import { describe, expect, test } from "vitest";
import { type Exception, judgeAudit } from "../../scripts/supply-chain/check-audit.ts";

const TODAY = "2026-11-22";
const ID = "GHSA-aaaa-bbbb-cccc";
const ADVISORY = {
  source: 1,
  name: "library",
  title: "Reads beyond its end",
  url: `https://github.com/advisories/${ID}`,
  severity: "moderate",
};
const EXCEPTION: Exception = { advisory: ID, package: "library", reason: "A test's.", until: TODAY };
const PROBLEM = `library: moderate: Reads beyond its end (${ADVISORY.url})`;

/** npm's output: the library with the advisory, and one that is vulnerable because it depends on the library. */
const answer = (advisory: object = ADVISORY) =>
  JSON.stringify({
    auditReportVersion: 2,
    vulnerabilities: {
      library: { name: "library", severity: "moderate", via: [advisory] },
      other: { name: "other", severity: "moderate", via: ["library"] },
    },
    metadata: {},
  });
const problemsOf = (printed: string, exceptions: readonly Exception[] = []) => {
  const verdict = judgeAudit(printed, exceptions, TODAY);
  return verdict.kind === "checked" ? verdict.problems : verdict;
};

// verifies P-supply-audit
describe("check:audit", () => {
  test("is content with a report without vulnerabilities", () => {
    expect(problemsOf('{"vulnerabilities": {}}')).toEqual([]);
  });

  test.each(["moderate", "high", "critical"])("fails on an advisory of severity %s", (severity) => {
    expect(problemsOf(answer({ ...ADVISORY, severity }))).toEqual([PROBLEM.replace("moderate", severity)]);
  });

  test.each(["info", "low"])("does not fail on one of severity %s", (severity) => {
    expect(problemsOf(answer({ ...ADVISORY, severity }))).toEqual([]);
  });

  test("takes an exception up to its last day, and no longer", () => {
    expect(problemsOf(answer(), [EXCEPTION])).toEqual([]);
    expect(problemsOf(answer(), [{ ...EXCEPTION, until: "2026-11-21" }])).toEqual([
      `library: the exception for ${ID} ended on 2026-11-21`,
    ]);
  });

  test.each([
    ["another advisory", { ...EXCEPTION, advisory: "GHSA-aaaa-bbbb-dddd" }],
    ["another package", { ...EXCEPTION, package: "other" }],
  ])("takes no exception for %s, and says that nothing needs it", (_, exception) => {
    expect(problemsOf(answer(), [exception])).toEqual([
      PROBLEM,
      `${exception.package}: nothing needs the exception for ${exception.advisory} any more`,
    ]);
  });

  test.each([
    ['{"message": "405 Method Not Allowed", "statusCode": 405}', "405 Method Not Allowed"],
    ["", "npm audit gave no report"],
    ["<html>", "npm audit gave no report"],
    [
      JSON.stringify({ vulnerabilities: { a: { via: [{ ...ADVISORY, severity: "new" }] } } }),
      "npm audit gave no report",
    ],
  ])("says that nothing was checked where npm prints %j", (printed, why) => {
    expect(judgeAudit(printed, [], TODAY)).toEqual({ kind: "not checked", why });
  });
});
