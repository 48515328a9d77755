/** An SVG chart: bars for the entries added in each period, and a line for the total. */
import { type Html, html } from "../html.ts";
import { counted, number } from "../words.ts";
import type { Span } from "./periods.ts";

const WIDTH = 720;
const HEIGHT = 240;
const [LEFT, RIGHT, TOP, BOTTOM] = [44, 44, 12, 26];
const FLOOR = HEIGHT - BOTTOM;
const TALL = FLOOR - TOP;

export function chart(spans: readonly Span[]): Html {
  const most = niceTop(Math.max(...spans.map(({ facts, runs }) => facts + runs)));
  const all = niceTop(spans.at(-1)?.allFacts ?? 0);
  const [first, last] = [spans[0], spans.at(-1)];
  return html`<p class="key"><span>${swatch("a")}Facts added</span><span>${swatch("b")}Records of runs</span><span>${lineSwatch()}All facts so far (scale on the right)</span></p>
<svg class="chart" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${summary(spans)}">
${[0, 0.5, 1].map((share) => gridLine(share, most, all))}
${spans.map((span, at) => bar(span, at, spans.length, most))}
<polyline class="line" points="${spans.map((span, at) => `${middle(at, spans.length)},${y(span.allFacts, all)}`).join(" ")}"/>
<text x="${LEFT}" y="${HEIGHT - 8}">${first?.name ?? ""}</text><text x="${WIDTH - RIGHT}" y="${HEIGHT - 8}" text-anchor="end">${last?.name ?? ""}</text>
</svg>`;
}

function summary(spans: readonly Span[]): string {
  const [first, last] = [spans[0], spans.at(-1)];
  return `From ${first?.name} to ${last?.name} memory grew to ${counted(last?.allFacts ?? 0, "fact")} and ${counted(last?.allRuns ?? 0, "record of a run", "records of runs")}. The table below has the numbers.`;
}

function gridLine(share: number, most: number, all: number): Html {
  const at = FLOOR - share * TALL;
  return html`<line class="axis" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${at}" y2="${at}"/>
<text x="${LEFT - 8}" y="${at + 4}" text-anchor="end">${number(share * most)}</text><text x="${WIDTH - RIGHT + 8}" y="${at + 4}">${number(share * all)}</text>`;
}

function bar({ name, facts, runs }: Span, at: number, count: number, most: number): Html | undefined {
  if (facts + runs === 0) return undefined;
  const wide = (WIDTH - LEFT - RIGHT) / count;
  const x = round(LEFT + at * wide + wide * 0.15);
  const width = round(wide * 0.7);
  const [top, between] = [y(facts + runs, most), y(facts, most)];
  return html`<g><title>${name}: ${counted(facts, "fact")}, ${counted(runs, "record")}</title>${runs > 0 && html`<rect class="b" x="${x}" y="${top}" width="${width}" height="${round(between - top)}"/>`}${facts > 0 && html`<rect class="a" x="${x}" y="${between}" width="${width}" height="${round(FLOOR - between)}"/>`}</g>`;
}

function middle(at: number, count: number): number {
  return round(LEFT + ((at + 0.5) * (WIDTH - LEFT - RIGHT)) / count);
}

function y(value: number, most: number): number {
  return round(FLOOR - (value / most) * TALL);
}

/** A round number that is easy to halve. */
function niceTop(value: number): number {
  if (value <= 2) return 2;
  const power = 10 ** Math.floor(Math.log10(value));
  const top = [1, 2, 4, 6, 8, 10].find((step) => step * power >= value) ?? 10;
  return top * power;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function swatch(name: "a" | "b"): Html {
  return html`<svg class="chart" viewBox="0 0 10 10" aria-hidden="true"><rect class="${name}" width="10" height="10" rx="2"/></svg>`;
}

function lineSwatch(): Html {
  return html`<svg class="chart" viewBox="0 0 10 10" aria-hidden="true"><line class="line" x1="0" x2="10" y1="5" y2="5"/></svg>`;
}
