/** Draws typed commands and their output in a terminal as a self-contained SVG picture. */

const COLUMNS = 110;
const CHARACTER_WIDTH = 8.4;
const LINE_HEIGHT = 19;
const MARGIN = 16;
const BAR_HEIGHT = 30;
const COLOURS = {
  paper: "#1b1f27",
  bar: "#2a303c",
  text: "#d7dce5",
  dim: "#8b95a7",
  prompt: "#7fd1a0",
  typed: "#ffffff",
} as const;

export function terminalPicture(title: string, text: string): string {
  const lines = text.trimEnd().split("\n").flatMap(folded);
  const width = Math.ceil(COLUMNS * CHARACTER_WIDTH + 2 * MARGIN);
  const height = BAR_HEIGHT + lines.length * LINE_HEIGHT + 2 * MARGIN;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${markup(title)}</title>`,
    `<rect width="${width}" height="${height}" rx="8" fill="${COLOURS.paper}"/>`,
    `<path d="M0 ${BAR_HEIGHT}V8a8 8 0 0 1 8-8h${width - 16}a8 8 0 0 1 8 8v${BAR_HEIGHT - 8}z" fill="${COLOURS.bar}"/>`,
    ...["#ff5f57", "#febc2e", "#28c840"].map(
      (fill, at) => `<circle cx="${20 + at * 20}" cy="15" r="6" fill="${fill}"/>`,
    ),
    `<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14" xml:space="preserve">`,
    ...lines.map((line, at) => drawn(line, BAR_HEIGHT + MARGIN + at * LINE_HEIGHT + 14)),
    "</g>",
    "</svg>",
    "",
  ].join("\n");
}

function folded(line: string): readonly string[] {
  const pieces: string[] = [];
  for (let rest = line; ; ) {
    pieces.push(rest.slice(0, COLUMNS));
    rest = rest.slice(COLUMNS);
    if (rest === "") return pieces;
  }
}

function drawn(line: string, y: number): string {
  const spans = line.startsWith("$ ")
    ? `<tspan fill="${COLOURS.prompt}">$</tspan><tspan fill="${COLOURS.typed}">${markup(line.slice(1))}</tspan>`
    : markup(line);
  const fill = line.startsWith("✓") ? COLOURS.prompt : COLOURS.text;
  return `<text x="${MARGIN}" y="${y}" fill="${fill}">${spans}</text>`;
}

function markup(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
