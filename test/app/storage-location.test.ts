import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { resolveStateDir } from "openclaw/plugin-sdk/state-paths";
import { describe, expect, test } from "vitest";
import { findStorage } from "../../app/storage-location.ts";
import { tempFolder } from "./fixtures/memories.ts";

function stateDirOf(env: Record<string, string | undefined>, homeDir: string): string {
  const { databasePath, keyPath } = findStorage({ env, homeDir });
  const ending = "/helmdeck-memory/memory.sqlite";
  expect(databasePath.endsWith(ending)).toBe(true);
  const stateDir = databasePath.slice(0, -ending.length);
  expect(keyPath).toBe(join(stateDir, "helmdeck-memory.key"));
  return stateDir;
}

describe("memory is in the state folder of the real OpenClaw:", () => {
  test.each([
    ["nothing set", {}],
    ["HOME", { HOME: "/h" }],
    ["HOME and USERPROFILE", { HOME: "/h", USERPROFILE: "/u" }],
    ["USERPROFILE", { USERPROFILE: "/u" }],
    ["HOME written as undefined", { HOME: "undefined", USERPROFILE: "null" }],
    ["OPENCLAW_HOME", { OPENCLAW_HOME: "/oc", HOME: "/h" }],
    ["OPENCLAW_HOME in the home", { OPENCLAW_HOME: "~/oc", HOME: "/h" }],
    ["OPENCLAW_HOME as the home", { OPENCLAW_HOME: "~", HOME: "/h" }],
    ["OPENCLAW_HOME blank", { OPENCLAW_HOME: "  ", HOME: "/h" }],
    ["OPENCLAW_STATE_DIR", { OPENCLAW_STATE_DIR: "/state", HOME: "/h" }],
    ["OPENCLAW_STATE_DIR with blanks", { OPENCLAW_STATE_DIR: " /state ", HOME: "/h" }],
    ["OPENCLAW_STATE_DIR in the home", { OPENCLAW_STATE_DIR: "~/state", HOME: "/h" }],
    [
      "OPENCLAW_STATE_DIR in OPENCLAW_HOME",
      { OPENCLAW_STATE_DIR: "~/state", OPENCLAW_HOME: "/oc", HOME: "/h" },
    ],
    ["OPENCLAW_STATE_DIR relative", { OPENCLAW_STATE_DIR: "state", HOME: "/h" }],
    ["OPENCLAW_STATE_DIR with another's home", { OPENCLAW_STATE_DIR: "~other/state", HOME: "/h" }],
    ["OPENCLAW_STATE_DIR empty", { OPENCLAW_STATE_DIR: "", HOME: "/h" }],
    ["a profile by environment alone", { OPENCLAW_PROFILE: "work", HOME: "/h" }],
    ["the default profile", { OPENCLAW_PROFILE: "default", HOME: "/h" }],
  ])("%s", (_, env) => {
    expect(stateDirOf(env, "/account")).toBe(resolveStateDir(env, () => "/account"));
  });

  test.each([[[".clawdbot"]], [[".openclaw"]], [[".clawdbot", ".openclaw"]], [[]]])(
    "with the folders %j present",
    async (folders) => {
      const home = await tempFolder();
      for (const folder of folders) await mkdir(join(home, folder));
      expect(stateDirOf({ HOME: home }, "/account")).toBe(resolveStateDir({ HOME: home }, () => "/account"));
    },
  );
});

test("explicit paths take precedence, and the key is outside of the folder that a backup copies", () => {
  const env = { HOME: "/h" };
  expect(findStorage({ env, homeDir: "/account", stateDir: "/s" })).toEqual({
    databasePath: "/s/helmdeck-memory/memory.sqlite",
    keyPath: "/s/helmdeck-memory.key",
  });
  expect(
    findStorage({ env, homeDir: "/account", stateDir: "/s", databasePath: "/d/m.sqlite", keyPath: "/k" }),
  ).toEqual({
    databasePath: "/d/m.sqlite",
    keyPath: "/k",
  });
});
