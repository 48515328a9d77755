/** Environment variables that configure the shipped packs. An error in one is reported without its value. */
import { describe, expect, it } from "vitest";
import { packSettings, shippedPacks } from "../../../packs/shipped/shipped-packs.ts";
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
    const refused = () => packSettings({ [name]: value });
    const expected = { name: "HelmdeckError", code: "invalid_input", details: { field: name } };
    expect(refused).toThrow(expect.objectContaining(expected));
    expect(refused).not.toThrow(/canary/);
  });
});

describe("the shipped packs", () => {
  it("are these, and those that start a process declare it", async () => {
    const memory = await openTestMemory();
    const packs = shippedPacks({ memory, ...packSettings({}) });
    const verbs = "search get store list forget history undo renew pin corpus".split(" ");
    const memoryPacks = verbs.map((verb) => `helmdeck.memory_${verb}`);
    expect(packs.map(({ name }) => name)).toEqual([...memoryPacks, "github.list_issues", "swe.solve"]);
    const starters = packs.filter(({ startsProcess }) => startsProcess === true);
    expect(starters.map(({ name }) => name)).toEqual(["swe.solve"]);
  });
});
