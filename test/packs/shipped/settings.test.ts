/** Environment variables that configure the shipped packs. An error in one is reported without its value. */
import { describe, expect, it } from "vitest";
import { HelmdeckError } from "../../../engine/errors.ts";
import { packSettings } from "../../../packs/shipped/pack-settings.ts";
import { shippedPacks } from "../../../packs/shipped/shipped-packs.ts";
import { openTestMemory } from "../../app/fixtures/memories.ts";

describe("the environment", () => {
  it("without variables for packs gives settings without secrets", () => {
    const nothing = { github: {}, solve: { env: {} } };
    expect(packSettings({ HOME: "/home/ana", SECRET: "x" })).toEqual(nothing);
    expect(
      packSettings({ GITHUB_TOKEN: "", HELMDECK_SOLVE_COMMAND: "", HELMDECK_SOLVE_HOSTS: " , " }),
    ).toEqual(nothing);
  });

  it("sets the token, the command, the hosts and the command's variables", () => {
    const env = {
      GITHUB_TOKEN: "t",
      GITHUB_API_URL: "https://github.example.org/api/v3",
      HELMDECK_SOLVE_COMMAND: '["coder", "--flag", "a b"]',
      HELMDECK_SOLVE_ENV: "MODEL_KEY, MISSING",
      HELMDECK_SOLVE_HOSTS: "github.com,git.example.org:8443",
      HELMDECK_SOLVE_CA_FILE: "/etc/ca.pem",
      MODEL_KEY: "m",
    };
    expect(packSettings(env)).toEqual({
      github: { token: "t", baseUrl: "https://github.example.org/api/v3" },
      solve: {
        command: ["coder", "--flag", "a b"],
        env: { MODEL_KEY: "m" },
        hosts: ["github.com", "git.example.org:8443"],
        caFile: "/etc/ca.pem",
      },
    });
  });

  it.each([
    ["HELMDECK_SOLVE_COMMAND", "coder --flag canary"],
    ["HELMDECK_SOLVE_COMMAND", '"canary"'],
    ["HELMDECK_SOLVE_COMMAND", "[]"],
    ["HELMDECK_SOLVE_COMMAND", '[""]'],
    ["HELMDECK_SOLVE_COMMAND", '["canary", 1]'],
    ["HELMDECK_SOLVE_ENV", "canary=1"],
    ["HELMDECK_SOLVE_ENV", "A;canary"],
  ])("with %s = %j is refused", (name, value) => {
    let error: unknown;
    try {
      packSettings({ [name]: value });
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(HelmdeckError);
    expect(error).toMatchObject({ code: "invalid_input", details: { field: name } });
    expect(String(error)).not.toContain("canary");
  });
});

describe("the shipped packs", () => {
  it("are these, and those that start a process declare it", async () => {
    const memory = await openTestMemory();
    const packs = shippedPacks({ memory, ...packSettings({}) });
    expect(packs.map(({ name, startsProcess = false }) => [name, startsProcess])).toEqual([
      ["helmdeck.memory_search", false],
      ["helmdeck.memory_get", false],
      ["helmdeck.memory_store", false],
      ["helmdeck.memory_list", false],
      ["helmdeck.memory_forget", false],
      ["helmdeck.memory_history", false],
      ["helmdeck.memory_undo", false],
      ["helmdeck.memory_renew", false],
      ["helmdeck.memory_pin", false],
      ["helmdeck.memory_corpus", false],
      ["github.list_issues", false],
      ["swe.solve", true],
    ]);
  });
});
