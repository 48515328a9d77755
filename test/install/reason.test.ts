/** Extracts the line with the reason from the output of real commands of OpenClaw 2026.9.6 that failed. */
import { describe, expect, it } from "vitest";
import { lineIn, reasonOf } from "../../install/run-command.ts";

const BANNER = [
  "WARNING - Installing plugin from local npm-pack archive: npm-pack:/tmp/x.tgz",
  "This source is outside ClawHub review and trust metadata. Only continue if you trust the publisher, package contents, and install source.",
  "",
].join("\n");
const MIGRATED = [
  "[state-migrations] Auto-migrated legacy state:",
  "- Migrated plugins.bundledDiscovery → shared SQLite state",
  "│",
  "◇  Doctor changes ────────────────────────────────────────────╮",
  "│  - Migrated plugins.bundledDiscovery → shared SQLite state  │",
  "├─────────────────────────────────────────────────────────────╯",
  "",
].join("\n");

describe("why a command of OpenClaw failed", () => {
  it.each<[string, { stdout?: string; stderr?: string }, string]>([
    [
      "plugins install without credentials",
      {
        stdout: BANNER,
        stderr:
          "gateway plugins.install requires credentials before opening a websocket\nFix: configure gateway.auth token/password, pair this device, or pass --token/--password.\nConfig: /home/u/.openclaw/openclaw.json\n",
      },
      "gateway plugins.install requires credentials before opening a websocket",
    ],
    [
      "plugins install of nothing",
      { stdout: BANNER, stderr: "archive not found: /tmp/nothing.tgz\n" },
      "archive not found: /tmp/nothing.tgz",
    ],
    [
      "memory index",
      {
        stdout: `${MIGRATED}Memory index updated (work): 1 file indexed.\n`,
        stderr:
          "[memory] memory_index_chunks_vec not updated — semantic vector embeddings unavailable\nMemory index failed (main): fetch failed | bad port\n",
      },
      "Memory index failed (main): fetch failed | bad port",
    ],
    [
      "memory status --deep",
      {
        stderr:
          '[openclaw] The CLI command failed.\n[openclaw] Reason: No API key found for provider "openai".\n[openclaw] Debug: set OPENCLAW_DEBUG=1 to include the stack trace.\n[openclaw] Try: openclaw doctor\n[openclaw] Help: openclaw --help\n',
      },
      'No API key found for provider "openai".',
    ],
    [
      "gateway call --json",
      {
        stdout: JSON.stringify({
          ok: false,
          error: {
            type: "gateway_credentials_required",
            message: "gateway tools.invoke requires credentials\nFix: x",
          },
        }),
      },
      "gateway tools.invoke requires credentials",
    ],
    [
      "config get --json",
      {
        stdout: `${JSON.stringify({ ok: false, error: { message: "OpenClaw config is invalid: ~/x" }, issues: [{ path: "<root>", message: 'Unrecognized key: "memoree"' }] }, null, 2)}\n`,
      },
      'OpenClaw config is invalid: ~/x (Unrecognized key: "memoree")',
    ],
    [
      "config validate",
      {
        stderr:
          'OpenClaw config is invalid: ~/.openclaw/openclaw.json\n  × <root>: Unrecognized key: "memoree"\n\nRun `openclaw doctor --fix` to repair, or fix the keys above manually.\nInspect with openclaw config validate.\n',
      },
      'OpenClaw config is invalid: ~/.openclaw/openclaw.json (<root>: Unrecognized key: "memoree")',
    ],
    [
      "config patch on a file that is no JSON",
      {
        stderr:
          'OpenClaw config is invalid\nFile: ~/.openclaw/openclaw.json\nProblem:\n  - <root>: JSON5 parse failed: SyntaxError\n\nInspect: openclaw config validate\nAudit, status, health, logs, tasks list/audit, and doctor commands still run with invalid config.\nRun "openclaw doctor --fix" to repair the config, then retry.\n',
      },
      "OpenClaw config is invalid (<root>: JSON5 parse failed: SyntaxError)",
    ],
    ["one that says nothing of a failure", { stderr: "a word before\nthe reason\n" }, "the reason"],
    ["one that prints a banner alone", { stdout: BANNER }, "it ended with 1 without output"],
  ])("%s", (_, { stdout = "", stderr = "" }, reason) => {
    expect(reasonOf({ exitCode: 1, stdout, stderr })).toBe(reason);
  });

  it("ignores the last line of a command that took too long", () => {
    const ran = { exitCode: undefined, stdout: "", stderr: "warning: cannot do x\n", hasTimedOut: true };
    expect(reasonOf(ran)).toBe("it took too long and was stopped");
  });

  it("is shortened to a readable length", () => {
    expect(lineIn(`failed: ${"x".repeat(5_000)}`)?.length).toBe(500);
    expect(lineIn("")).toBeUndefined();
  });
});
