import { expect, test } from "vitest";
import { openClawPlace, workspaceOf } from "../../app/traces/openclaw-place.ts";

const at = (config: unknown, env = {}) => openClawPlace(config, { stateDir: "/s", env, homeDir: "/h" });

// docs/concepts/agent-workspace.md of OpenClaw 2026.9.6
test.each([
  ["no configuration", undefined, "main", "/s/workspace"],
  ["a workspace for all", { agents: { defaults: { workspace: "~/w" } } }, "main", "/h/w"],
  ["one agent", { agents: { entries: { ada: {} } } }, "ada", "/s/workspace"],
  [
    "one agent, a workspace for all",
    { agents: { defaults: { workspace: "/w" }, entries: { ada: {} } } },
    "ada",
    "/w",
  ],
  ["several agents", { agents: { entries: { ada: {}, bob: {} } } }, "ada", "/s/workspace-ada"],
  [
    "several, a root",
    { agents: { defaults: { workspace: "/w" }, entries: { ada: {}, bob: {} } } },
    "bob",
    "/w/bob",
  ],
  ["its own", { agents: { entries: { ada: { workspace: "/a" }, bob: {} } } }, "ada", "/a"],
  ["an agent that is not named", { agents: { entries: { ada: {}, bob: {} } } }, "main", "/s/workspace"],
  ["a strange configuration", { agents: [{ entries: 3 }] }, "main", "/s/workspace"],
])("the workspace with %s", (_, config, agentId, path) => {
  expect(workspaceOf(at(config), agentId)).toBe(path);
});

test("the environment's workspace comes first", () => {
  const config = { agents: { defaults: { workspace: "/w" } } };
  expect(workspaceOf(at(config, { OPENCLAW_WORKSPACE_DIR: "/e" }), "main")).toBe("/e");
});
