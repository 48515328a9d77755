/** The shipped command, run as a process, gives the same answers as the command in the test process, which most tests use. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { InProcessHome } from "./in-process.ts";

const home = new InProcessHome();
const WRONG_KEY = { HELMDECK_MEMORY_KEY: "ab".repeat(32) };
const FACTS = [
  { key: "deploy/konflux", value: "We deploy through Konflux", created_at: "2026-11-01T12:00:00Z" },
  { key: "hostile", value: "red \u001b[31m text", created_at: "2026-11-02T12:00:00Z" },
];

beforeAll(async () => {
  const input = FACTS.map((fact) => `${JSON.stringify(fact)}\n`).join("");
  expect(await home.runProcess(["import", "-"], { input })).toMatchObject({ code: 0, stderr: "" });
});
afterAll(() => home.remove());

test.each<
  [name: string, args: readonly string[], options?: { env?: Record<string, string>; input?: string }]
>([
  ["an answer for a person", ["list"]],
  ["an answer for a script", ["get", "hostile", "--json"]],
  ["a search", ["search", "konflux"]],
  ["an empty answer", ["search", "zeppelin"]],
  ["standard input", ["import", "-"], { input: "no JSON\n" }],
  ["a question that nobody is there to answer", ["forget", "everything"]],
  ["a failure", ["get", "deploy"], { env: WRONG_KEY }],
  ["a failure for a script", ["get", "deploy", "--json"], { env: WRONG_KEY }],
  ["a path in this folder", ["list", "--db", "."]],
  ["a mistake in the command line", ["lisst"]],
])("%s: %s", async (_name, args, options) => {
  const process = await home.runProcess(args, options);
  expect(process.stdout + process.stderr).not.toBe("");
  expect(await home.run(args, options)).toEqual(process);
});
