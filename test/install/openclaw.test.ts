/** Calls of OpenClaw's command: secrets are passed through standard input, and output around its JSON is ignored. */
import { mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { jsonIn } from "../../install/openclaw-json.ts";
import { makeRun } from "../../install/run-command.ts";
import { Docker } from "../../install/run-docker.ts";
import { OpenClaw } from "../../install/run-openclaw.ts";

const SECRET = "sk-operators-own-0123456789";
/** Answers like OpenClaw, and records how it was called. */
const PROGRAM = `#!/bin/sh
printf '%s\\n' "$@" >> "$SEEN/arguments"
cat >> "$SEEN/input"
case $1 in
  --version) echo "OpenClaw 2026.9.6 (eb377ac)" ;;
  fails) echo "a word before" >&2; echo "the reason" >&2; echo "[openclaw] Help: openclaw --help" >&2; exit 3 ;;
  gateway) echo '{"ok": false, "error": {"message": "Tool not available: helmdeck__memory_store"}}'; exit 1 ;;
  *) echo "{\\"ok\\": true}" ;;
esac
`;

let folder: string;
let openclaw: OpenClaw;

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "hd-openclaw-")));
  writeFileSync(join(folder, "openclaw"), PROGRAM, { mode: 0o755 });
  writeFileSync(
    join(folder, "docker"),
    PROGRAM.replace("case $1 in", 'printf "%s" "$TOKEN" > "$SEEN/environment"\ncase $1 in'),
    {
      mode: 0o755,
    },
  );
  const run = makeRun({ PATH: `${folder}:${process.env.PATH}`, SEEN: folder });
  const found = await OpenClaw.find(
    { kind: "host" },
    { run, docker: new Docker(run, folder), homeDir: folder },
  );
  if (found === undefined) throw new Error("the program was not found");
  openclaw = found;
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const seen = (name: string) => readFileSync(join(folder, name), "utf8");

describe("OpenClaw's command", () => {
  it("receives configuration changes through standard input, never in an argument", async () => {
    await openclaw.patchConfig({ memory: { search: { remote: { apiKey: SECRET } } } });
    expect(seen("input")).toContain(SECRET);
    expect(seen("arguments")).not.toContain(SECRET);
  });

  it("receives a secret in a container by name, with the value in docker's environment only", async () => {
    const run = makeRun({ PATH: `${folder}:${process.env.PATH}`, SEEN: folder });
    await new Docker(run, folder).exec("claw", ["openclaw"], { env: { TOKEN: SECRET } });
    expect(seen("arguments")).toContain("--env\nTOKEN\n");
    expect(seen("arguments")).not.toContain(SECRET);
    expect(seen("environment")).toBe(SECRET);
  });

  it("fails with the last meaningful line of the output", async () => {
    await expect(openclaw.must("do it", ["fails"])).rejects.toThrow("OpenClaw could not do it: the reason");
  });

  it("names the remedy if the gateway has not loaded the plugin", async () => {
    await expect(openclaw.callTool("helmdeck__memory_store", {})).rejects.toThrow(
      /Tool not available.*restart: openclaw gateway restart, then: install\.sh --verify/,
    );
  });

  it("reports its version", () => expect(openclaw.version).toBe("2026.9.6"));

  it("keeps the file mode of a configuration that it restores", async () => {
    const file = join(folder, "openclaw.json");
    writeFileSync(file, "{}", { mode: 0o600 });
    await openclaw.writeConfigFile(file, Buffer.from("{ a: 1 }"));
    expect(readFileSync(file, "utf8")).toBe("{ a: 1 }");
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });
});

describe("jsonIn", () => {
  it.each([
    ['{"a":1}', { a: 1 }],
    ['a warning\n{"a":\n1}\n', { a: 1 }],
    ['[state-migrations] Auto-migrated legacy state:\n- Migrated a\n[\n  {"a": 1}\n]\n', [{ a: 1 }]],
    ["[]\n", []],
    ["none", undefined],
    ['{"cut', undefined],
    ["true", true],
  ])("reads %j", (text, value) => expect(jsonIn(text)).toEqual(value));
});
