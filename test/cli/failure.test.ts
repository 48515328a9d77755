/** Failure reports as text and JSON: one line, without texts of foreign errors and without a stack trace. */
import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { reportFailure } from "../../commands/exit-codes.ts";
import { Output } from "../../commands/output.ts";
import { HelmdeckError } from "../../engine/errors.ts";

const SECRET = "hunter2-correct-horse";

async function told(error: unknown, json: boolean) {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const shell = { stdin: new PassThrough(), stdout, stderr, env: {}, homeDir: "/", now: () => 0 };
  const from = { command: "helmdeck-memory", help: "helmdeck-memory", json };
  const code = await reportFailure(error, new Output(shell), from);
  return { code, stdout: String(stdout.read() ?? ""), stderr: String(stderr.read() ?? "") };
}

describe("a failure of ours", () => {
  const ours = new HelmdeckError("store_locked", "Another process holds it.\nTry \u001b[31magain.", {
    details: { waitedMs: 5_000 },
    cause: new Error(SECRET),
  });

  test("is one escaped line with code and message, without its cause, and has its details in JSON", async () => {
    const { code, stdout, stderr } = await told(ours, false);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    const message = "Another process holds it. Try [U+001B][31magain.";
    expect(stderr).toBe(`store_locked: ${message}\n`);
    const details = { waited_ms: 5_000 };
    expect(JSON.parse((await told(ours, true)).stderr)).toEqual({ error: "store_locked", message, details });
  });
});

describe("an unexpected failure", () => {
  test.each<[string, unknown]>([
    ["an error", new TypeError(`cannot read ${SECRET}`)],
    ["an error with a cause", new Error("outer", { cause: new Error(SECRET) })],
    ["a thrown text", SECRET],
    ["a thrown object", { message: SECRET }],
    ["nothing", undefined],
    ["an error whose code is a text of its own", Object.assign(new Error("x"), { code: `${SECRET}\n` })],
  ])("%s is reported as internal, without its message", async (_name, error) => {
    for (const json of [false, true]) {
      const { code, stdout, stderr } = await told(error, json);
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr).toMatch(json ? /^\{"error":"internal",[^\n]+\}\n$/ : /^internal: [^\n]+doctor[^\n]+\n$/);
      expect(stderr).not.toContain(SECRET);
      expect(stderr).not.toMatch(/\bat .*:\d+/);
    }
  });

  test("names the kind of error and the system's code, for a report", async () => {
    const { stderr } = await told(Object.assign(new RangeError("x"), { code: "ERR_OUT_OF_RANGE" }), false);
    expect(stderr).toContain("(RangeError, ERR_OUT_OF_RANGE)");
  });
});
