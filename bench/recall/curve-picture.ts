/** A line chart as SVG. The y axis is the share of right answers, the x axis the number of wrong hits. Each point is a cut-off. */

interface CurvePoint {
  /** From 0 to 1. */
  readonly right: number;
  /** From 0. */
  readonly wrong: number;
  /** Whether this is the cut-off in use, which is drawn filled. */
  readonly isChosen: boolean;
}

export interface Curve {
  readonly name: string;
  readonly points: readonly CurvePoint[];
}

const WIDTH = 720;
const HEIGHT = 420;
const FRAME = { left: 60, right: 190, top: 20, bottom: 50 };
/** Colours that people with colour blindness can distinguish (Okabe and Ito). */
const COLOURS = ["#0072b2", "#56b4e9", "#009e73", "#d55e00", "#e69f00", "#cc79a7"];
const TEXT = 'font-family="sans-serif" font-size="12" fill="#333"';

export function curvePicture(curves: readonly Curve[], most: number): string {
  const x = (wrong: number) => round(FRAME.left + (wrong / most) * (WIDTH - FRAME.left - FRAME.right));
  const y = (right: number) => round(HEIGHT - FRAME.bottom - right * (HEIGHT - FRAME.top - FRAME.bottom));
  const place = (point: CurvePoint) => `${x(point.wrong)},${y(point.right)}`;
  const lines = curves.flatMap(({ name, points }, number) => {
    const colour = COLOURS[number % COLOURS.length];
    return [
      `<polyline fill="none" stroke="${colour}" stroke-width="2" points="${points.map(place).join(" ")}"/>`,
      ...points.map((point) => {
        const fill = point.isChosen ? colour : "white";
        const radius = point.isChosen ? 6 : 3;
        return `<circle cx="${x(point.wrong)}" cy="${y(point.right)}" r="${radius}" fill="${fill}" stroke="${colour}"/>`;
      }),
      `<text x="${WIDTH - FRAME.right + 16}" y="${FRAME.top + 18 * (number + 1)}" ${TEXT} style="fill:${colour}">${name}</text>`,
    ];
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="Shown right against shown wrong">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="white"/>`,
    ...steps(1, 0.2).flatMap((right) => [
      `<line x1="${x(0)}" x2="${x(most)}" y1="${y(right)}" y2="${y(right)}" stroke="#ddd"/>`,
      `<text x="${x(0) - 8}" y="${y(right) + 4}" text-anchor="end" ${TEXT}>${Math.round(100 * right)} %</text>`,
    ]),
    ...steps(most, 0.5).map(
      (wrong) =>
        `<text x="${x(wrong)}" y="${y(0) + 18}" text-anchor="middle" ${TEXT}>${wrong.toFixed(1)}</text>`,
    ),
    `<text x="${x(most / 2)}" y="${HEIGHT - 10}" text-anchor="middle" ${TEXT}>possible hits that an unanswerable question is shown, mean</text>`,
    ...lines,
    "</svg>\n",
  ].join("\n");
}

function steps(to: number, by: number): readonly number[] {
  return Array.from({ length: Math.floor(to / by + 1e-9) + 1 }, (_none, number) => number * by);
}

function round(value: number): number {
  return Math.round(10 * value) / 10;
}
