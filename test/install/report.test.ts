/** The output during a long step: on a terminal the current line is animated, elsewhere it is written once. */
import { beforeEach, describe, expect, it } from "vitest";
import { LineReporter } from "../../install/report.ts";
import type { Step } from "../../install/steps/registry.ts";

const STEP: Step = { kind: "index-notes", configPath: "/c", mustWork: true, awaitsGateway: false };
const TITLE = "rebuild OpenClaw's index of its notes";

let text: string;
let tick: (() => void) | undefined;

beforeEach(() => {
  text = "";
  tick = undefined;
});

function reporter(out: { readonly isTTY: boolean; readonly columns?: number }): LineReporter {
  const every = (_: number, call: () => void) => {
    tick = call;
    return () => {
      tick = undefined;
    };
  };
  return new LineReporter({ ...out, write: (more: string) => (text += more) }, {}, every);
}

describe("the current line", () => {
  it("is animated on a terminal until the step ends, and then shows its outcome", () => {
    const terminal = reporter({ isTTY: true });
    terminal.begin(STEP);
    tick?.();
    expect(text).toMatch(new RegExp(`${TITLE} \\d+ s$`));
    terminal.done({ step: STEP, outcome: "done", ms: 12_000 });
    expect(text).toMatch(new RegExp(`✓.* ${TITLE} \\(12\\.0 s\\)\\n$`));
    expect(tick).toBeUndefined();
  });

  it("stops its animation when the step fails", () => {
    const terminal = reporter({ isTTY: true });
    terminal.begin(STEP);
    terminal.failed({ step: STEP, outcome: "failed", ms: 1, error: "because" });
    expect(tick).toBeUndefined();
    expect(text).toContain("because");
  });

  it("is animated also while the installer inspects the machine", () => {
    const done = reporter({ isTTY: true }).working("Checking this machine");
    tick?.();
    expect(text).toMatch(/Checking this machine \d+ s$/);
    done();
    expect(text).toMatch(/Checking this machine\n$/);
    expect(tick).toBeUndefined();
  });

  it("fits into one row of the terminal, so that it can be overwritten", () => {
    const terminal = reporter({ isTTY: true, columns: 30 });
    terminal.begin(STEP);
    tick?.();
    // biome-ignore lint/suspicious/noControlCharactersInRegex: removes terminal escapes
    const rows = text.split("\r").map((row) => row.replace(/\x1b\[\d*[a-zA-Z]/g, ""));
    expect(rows.length).toBe(2);
    expect(rows.every((row) => row.length < 30)).toBe(true);
  });

  it("is not shortened on a terminal of unknown size", () => {
    reporter({ isTTY: true, columns: 0 }).working("Checking this machine");
    expect(text).toContain("Checking this machine");
  });

  it("is written once if the output is not a terminal", () => {
    const file = reporter({ isTTY: false });
    file.working("Checking this machine")();
    file.begin(STEP);
    expect(tick).toBeUndefined();
    file.done({ step: STEP, outcome: "done", ms: 12_000 });
    expect(text).toBe(`==> Checking this machine\n==> ${TITLE} ✓ (12.0 s)\n`);
  });
});
