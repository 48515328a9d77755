/** Reports a run: a line for each step, or one JSON object at the end. */

import { styleText } from "node:util";
import { SingleBar } from "cli-progress";
import { defined } from "../engine/defined.ts";
import type { Plan, UnmetPrerequisite } from "./plan/plan.ts";
import { definitionOf, type Step } from "./steps/registry.ts";
import type { ExitCode } from "./steps/step-definition.ts";

export interface Reporter {
  /** The options that stay as the last installation had them. */
  kept(options: readonly string[]): void;
  /** `title`: of a plan that this run would not follow. */
  plan(plan: Plan, title?: string): void;
  unmet(missing: readonly UnmetPrerequisite[]): void;
  /** For slow work that is not a step. Returns a function that ends it. */
  working(text: string): () => void;
  begin(step: Step): void;
  readonly progress: (done: number, total: number) => void;
  /** Shown at once, and counted in the summary. */
  readonly warn: (text: string) => void;
  done(outcome: StepOutcome): void;
  failed(outcome: StepOutcome): void;
  line(text: string): void;
  end(end: End): void;
}

export interface StepOutcome {
  readonly step: Step;
  readonly outcome: "done" | "failed";
  readonly ms: number;
  readonly remark?: string;
  readonly error?: string;
}

export interface End {
  readonly plan: Plan | undefined;
  readonly steps: readonly StepOutcome[];
  readonly exitCode: ExitCode;
  readonly isDryRun: boolean;
  /** For a person, after a successful run. */
  readonly closing?: readonly string[];
  readonly error?: string;
}

export interface Stream {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  write(text: string): unknown;
}

type Format = Parameters<typeof styleText>[0];

/** Calls back repeatedly until the returned function is called. */
export type Every = (ms: number, call: () => void) => () => void;

const everySoOften: Every = (ms, call) => {
  const timer = setInterval(call, ms).unref();
  return () => clearInterval(timer);
};

/** After this time an open line shows the elapsed time, so that slow work is visibly in progress. */
const TICK_MS = 1_000;
/** Used if the terminal reports no width, or 0. */
const COLUMNS = 80;

/** Updating lines with colours on a terminal; plain lines elsewhere. */
export class LineReporter implements Reporter {
  readonly #out: NodeJS.WriteStream | Stream;
  readonly #isTerminal: boolean;
  readonly #hasColours: boolean;
  readonly #warnings: string[] = [];
  #bar: SingleBar | undefined;
  /** Messages that arrived while a step's line was open. */
  #held: string[] = [];
  #isOpen = false;
  readonly #every: Every;
  #stopTicking: () => void = () => {};

  constructor(
    out: NodeJS.WriteStream | Stream,
    env: Readonly<Record<string, string | undefined>>,
    every: Every = everySoOften,
  ) {
    this.#out = out;
    this.#every = every;
    this.#isTerminal = out.isTTY === true && env.TERM !== "dumb";
    this.#hasColours = this.#isTerminal && !env.NO_COLOR;
  }

  kept(options: readonly string[]): void {
    if (options.length > 0)
      this.line(
        `Kept from the last installation: ${options.join(" ")} (options that you give replace these)`,
      );
  }

  plan({ steps, warnings }: Plan, title = "Plan"): void {
    if (steps.length > 0) this.line(`${this.#style("bold", "==>")} ${title}`);
    for (const [index, step] of steps.entries()) {
      const detail = definitionOf(step).detail?.(step);
      this.line(`  ${index + 1}. ${titleOf(step)}${detail === undefined ? "" : ` (${detail})`}`);
    }
    for (const warning of warnings) this.warn(warning);
  }

  unmet(missing: readonly UnmetPrerequisite[]): void {
    for (const { message, remedy } of missing) {
      this.line(`${this.#style("red", "!")} ${message}`);
      this.line(`  ${remedy}`);
    }
  }

  working(text: string): () => void {
    if (!this.#isTerminal) {
      this.line(`==> ${text}`);
      return () => {};
    }
    this.#tick(text);
    return () => {
      this.#stopTicking();
      this.#out.write(`\r\x1b[2K${this.#open(text)}\n`);
    };
  }

  begin(step: Step): void {
    const title = titleOf(step);
    if (this.#isTerminal) this.#tick(title);
    else this.#out.write(this.#open(title));
    this.#isOpen = true;
  }

  /** Rewrites the line every second with the elapsed time. */
  #tick(text: string): void {
    const began = performance.now();
    this.#out.write(this.#open(text));
    this.#stopTicking = this.#every(TICK_MS, () => {
      const seconds = Math.round((performance.now() - began) / 1_000);
      this.#out.write(`\r\x1b[2K${this.#open(text, ` ${seconds} s`)}`);
    });
  }

  /** Cut to one terminal row, because a wrapped line cannot be overwritten. */
  #open(text: string, suffix = ""): string {
    const room = (this.#out.columns || COLUMNS) - "==> ".length - suffix.length - 1;
    const isWhole = !this.#isTerminal || text.length <= room;
    const shown = isWhole ? text : `${text.slice(0, Math.max(0, room - 1))}…`;
    return `${this.#style("bold", "==>")} ${shown}${suffix}`;
  }

  readonly progress = (done: number, total: number): void => {
    if (!this.#isTerminal) return;
    if (this.#bar === undefined) {
      this.#stopTicking();
      this.#out.write("\n");
      const format = "    {bar} {percentage} % · {value} of {total} MB";
      // A terminal's stream is a complete stream object.
      this.#bar = new SingleBar({
        stream: this.#out as NodeJS.WriteStream,
        format,
        clearOnComplete: true,
        hideCursor: true,
      });
      this.#bar.start(0, 0);
    }
    this.#bar.setTotal(megabytes(total));
    this.#bar.update(megabytes(done));
  };

  readonly warn = (text: string): void => {
    this.#warnings.push(text);
    if (this.#isOpen) this.#held.push(text);
    else this.line(`${this.#style("yellow", "!")} ${text}`);
  };

  done({ step, ms, remark }: StepOutcome): void {
    const seconds = `${(ms / 1_000).toFixed(1)} s`;
    this.#close(`${this.#style("green", "✓")} ${titleOf(step)}`, "✓", [seconds, remark]);
  }

  failed({ step, error }: StepOutcome): void {
    this.#close(`${this.#style("red", "!")} ${titleOf(step)}`, "!", []);
    this.line(`  ${error}`);
  }

  line(text: string): void {
    this.#out.write(`${text}\n`);
  }

  end({ exitCode, isDryRun, steps, closing = [], error }: End): void {
    if (error !== undefined) this.line(`${this.#style("red", "!")} ${error}`);
    const { length } = this.#warnings;
    const noted = length === 0 ? "" : ` ${length === 1 ? "1 note" : `${length} notes`} above.`;
    if (isDryRun && exitCode === 0) this.line("This was the plan. Nothing was changed.");
    else if (exitCode === 0)
      this.line(`${this.#style("green", "✓")} ${steps.length === 0 ? "Nothing to do." : "Done."}${noted}`);
    else if (steps.length > 0)
      this.line(
        "Stopped. The changes so far are recorded: run it again to continue, or with --uninstall to undo them.",
      );
    for (const text of closing) this.line(text);
  }

  /** On a terminal the line is overwritten; in a file the outcome follows on the same line. */
  #close(whole: string, mark: string, remarks: readonly (string | undefined)[]): void {
    this.#stopTicking();
    this.#bar?.stop();
    const had = this.#bar !== undefined;
    this.#bar = undefined;
    const said = remarks.filter((remark) => remark !== undefined).join(", ");
    const suffix = said === "" ? "" : ` (${said})`;
    if (this.#isTerminal) this.#out.write(`${had ? "\x1b[1A" : ""}\r\x1b[2K${whole}${suffix}\n`);
    else this.#out.write(` ${mark}${suffix}\n`);
    this.#isOpen = false;
    for (const text of this.#held.splice(0)) this.line(`${this.#style("yellow", "!")} ${text}`);
  }

  #style(format: Format, text: string): string {
    return this.#hasColours ? styleText(format, text, { validateStream: false }) : text;
  }
}

/** Prints one JSON object at the end, and nothing before. */
export class JsonReporter implements Reporter {
  readonly #out: Stream;
  readonly #warnings: string[] = [];
  #missing: readonly UnmetPrerequisite[] = [];

  constructor(out: Stream) {
    this.#out = out;
  }

  kept(): void {}
  plan({ warnings }: Plan, title?: string): void {
    if (title === undefined) this.#warnings.push(...warnings);
  }
  unmet(missing: readonly UnmetPrerequisite[]): void {
    this.#missing = missing;
  }
  readonly warn = (text: string): void => {
    this.#warnings.push(text);
  };
  readonly progress = (): void => {};
  working = () => () => {};
  begin(): void {}
  done(): void {}
  failed(): void {}
  line(): void {}

  end({ plan, steps, exitCode, isDryRun, error }: End): void {
    const answer = {
      exitCode,
      dryRun: isDryRun,
      target: plan?.target ?? null,
      kept: plan?.kept ?? [],
      plan: plan?.steps ?? [],
      steps,
      warnings: this.#warnings,
      missing: this.#missing,
      ...defined({ error }),
    };
    this.#out.write(`${JSON.stringify(answer)}\n`);
  }
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1e6);
}

function titleOf(step: Step): string {
  return definitionOf(step).title(step);
}
