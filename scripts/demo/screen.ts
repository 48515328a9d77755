/** The demo's output: one line per step, then each question with its ranked hits. */
import { styleText } from "node:util";
import type { Step } from "../openclaw-host/openclaw-host.ts";
import type { Answer, DemoHit } from "./asking.ts";

const SNIPPET_CHARS = 150;
const LABEL_CHARS = 42;
const SPINNER_MS = 120;
const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

type Style = Parameters<typeof styleText>[0];

export class Screen {
  readonly #stream: NodeJS.WriteStream;
  #spinner: NodeJS.Timeout | undefined;

  /** Steps go to stderr if stdout is reserved for JSON. */
  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
  }

  step({ name, ms }: Step): void {
    this.#stopSpinning();
    if (ms === undefined) {
      this.#spin(name);
      return;
    }
    this.line(
      `${this.#styled("green", "✓")} ${name.padEnd(LABEL_CHARS)} ${this.#styled("dim", seconds(ms).padStart(7))}`,
    );
  }

  answer({ query, hits, ms, warning }: Answer): void {
    this.line(
      `\n${this.#styled("bold", `? ${query}`)}   ${this.#styled("dim", `memory_search, ${seconds(ms)}`)}`,
    );
    if (warning !== undefined) this.line(`  ${this.#styled("yellow", "!")} ${warning}`);
    if (hits.length === 0) this.line("  Nothing was found.");
    for (const [place, hit] of hits.entries()) this.#hit(hit, place + 1);
  }

  /** Stops the spinner. */
  line(text: string): void {
    this.#stopSpinning();
    this.#stream.write(`${text}\n`);
  }

  failure(text: string): void {
    this.line(`${this.#styled("red", "✗")} ${text}`);
  }

  #hit({ corpus, score, path, startLine, endLine, snippet, provenanceLabel }: DemoHit, place: number): void {
    const from = corpus === "helmdeck" ? this.#styled("cyan", "helmdeck") : "OpenClaw";
    const lines = startLine === undefined ? "" : `  lines ${startLine}–${endLine ?? startLine}`;
    this.line(`  ${place}. ${from}  ${score.toFixed(2)}  ${path}${this.#styled("dim", lines)}`);
    // Our hits have a header line, followed by the stored text.
    const [frame = "", quotation] = corpus === "helmdeck" ? snippet.split(/\n(.*)/s) : [snippet];
    for (const text of [frame, quotation ?? ""].filter((part) => part !== ""))
      this.line(`     ${this.#styled("dim", inOneLine(text))}`);
    if (provenanceLabel !== undefined)
      this.line(`     ${this.#styled("yellow", inOneLine(provenanceLabel))}`);
  }

  #spin(name: string): void {
    if (!this.#stream.isTTY) return;
    let frame = 0;
    const draw = () => {
      this.#stream.write(`\r\u001b[2K${FRAMES[frame % FRAMES.length]} ${name}`);
      frame += 1;
    };
    draw();
    this.#spinner = setInterval(draw, SPINNER_MS);
    this.#spinner.unref();
  }

  #stopSpinning(): void {
    if (this.#spinner === undefined) return;
    clearInterval(this.#spinner);
    this.#spinner = undefined;
    this.#stream.write("\r\u001b[2K");
  }

  #styled(style: Style, text: string): string {
    return this.#stream.isTTY ? styleText(style, text, { stream: this.#stream }) : text;
  }
}

export function seconds(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

function inOneLine(snippet: string): string {
  const line = snippet.replaceAll(/\s+/g, " ").trim();
  return line.length > SNIPPET_CHARS ? `${line.slice(0, SNIPPET_CHARS - 1).toWellFormed()}…` : line;
}
