/** The installer with a served engine as the source of memory: its options and its plan. */
import { describe, expect, it } from "vitest";
import { makePlan } from "../../install/plan/make-plan.ts";
import { definitionOf } from "../../install/steps/registry.ts";
import { FACTS, INSTALLED, kinds, options, withJournal, withOpenClaw } from "./fixtures.ts";

const ENGINE = { url: "https://memory.example", tokens: { main: "/h/main.token" } };
const ASKED = ["--engine", ENGINE.url, "--token-file", "/h/main.token"];

describe("--engine", () => {
  it("plans no local store and no sidecar, and runs the smoke test through the engine", () => {
    const { steps, questions } = makePlan(FACTS, options(...ASKED));
    expect(kinds(FACTS, ...ASKED).join(" ")).toBe("back-up-config install-plugin point-source prove");
    expect(steps.at(-1)).toMatchObject({ engineUrl: ENGINE.url, facts: undefined, memory: undefined });
    expect(questions).toEqual([]);
    // The title has the token file's name, not its content.
    expect(steps.map((step) => definitionOf(step).title(step))).toContain(
      "let the engine at https://memory.example keep the memory of main, each with the token in its file",
    );
  });

  it("changes nothing if the engine is already set, and keeps it in a run without the option", () => {
    const at = withOpenClaw({ engine: ENGINE }, INSTALLED);
    expect(kinds(at, ...ASKED)).not.toContain("point-source");
    expect(kinds(at, ...ASKED, "--token-file", "work=/h/work.token")).toContain("point-source");
    expect(kinds(at)).not.toContain("restore-source");
    expect(makePlan(at, options()).steps.at(-1)).toMatchObject({ kind: "prove", engineUrl: ENGINE.url });
    expect(makePlan(at, options("--verify")).steps).toMatchObject([
      { engineUrl: ENGINE.url, facts: undefined },
    ]);
  });

  it("is restored by an uninstallation", () => {
    const set = withJournal({ source: { source: { kind: "engine" } }, configIsAsLeft: false });
    expect(kinds(set, "--uninstall")).toContain("restore-source");
  });
});

describe("the options of an engine", () => {
  it("accept a token file for each agent", () => {
    const { engine, embeddings } = options(...ASKED, "--token-file", "work=/h/work.token");
    expect(engine).toEqual({ ...ENGINE, tokens: { main: "/h/main.token", work: "/h/work.token" } });
    expect(embeddings).toEqual({ kind: "none" });
    const fingerprint256 = "ab".repeat(32);
    expect(options(...ASKED, "--engine-fingerprint", fingerprint256).engine).toEqual({
      ...ENGINE,
      fingerprint256,
    });
  });

  it.each<[readonly string[], string]>([
    [["--engine", "https://memory.example"], "needs a token"],
    [["--token-file", "/h/t"], "need --engine"],
    [["--engine", "http://memory.example", "--token-file", "/h/t"], "must begin with https://"],
    [["--engine", "https://u:hunter2@memory.example", "--token-file", "/h/t"], "without a name or password"],
    [["--engine", "https://memory.example", "--token-file", "relative.token"], "absolute path"],
    [[...ASKED, "--token-file", "main=/h/other"], "a token for main already"],
    [[...ASKED, "--engine-fingerprint", "ab"], "64 hexadecimal digits"],
    [[...ASKED, "--embeddings-url", "http://127.0.0.1:11434"], "exclude each other"],
    [[...ASKED, "--gpu"], "exclude each other"],
    [[...ASKED, "--embeddings"], "exclude each other"],
    [[...ASKED, "--uninstall"], "is only for an installation"],
  ])("refuse %j", (args, says) => {
    expect(() => options(...args)).toThrow(says);
  });
});
