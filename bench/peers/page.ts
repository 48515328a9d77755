/** Makes the page from the lines that are kept: what helmdeck is not first in, then every figure. */
import { writeFileSync } from "node:fs";
import { table, textTable } from "../measured.ts";
import { type Line, type Run, waysIn } from "./figures.ts";
import { CAUSES, type Column, TABLES, type Table } from "./page-tables.ts";
import { PRIOR_ART } from "./prior-art.ts";
import type { System } from "./system.ts";

export interface PageOptions {
  readonly runs: readonly Run[];
  readonly systems: readonly System[];
  readonly path: string;
}

type Lines = readonly (readonly Line[])[];

interface Row {
  readonly system: System;
  readonly way?: string;
  /** One for each column; undefined if the system has no such figure. The least and the most of the runs. */
  readonly figures: readonly (readonly [number, number] | undefined)[];
}

const EAGER = "helmdeck-eager";
const OURS = new Set(["helmdeck", "helmdeck-model", EAGER]);
/** As the installer sets it up; the shared embedder stands in for its model where the embedder is what is measured. */
const USUAL = ["helmdeck-model", "helmdeck-embedder"];
/** It has nothing to find, so it is no rival. */
const FLOOR = "nothing";

export function writePage(options: PageOptions): string {
  writeFileSync(options.path, pageText(options));
  return options.path;
}

function pageText({ runs: kept, systems }: PageOptions): string {
  const runs = kept.map(({ lines }) => lines);
  const tables = TABLES.map((one) => ({ table: one, rows: rowsOf(one, systems, runs) })).filter(
    ({ rows }) => rows.length > 0,
  );
  return [
    "<!-- Made by `npm run bench:peers -- --write`. Do not edit. -->",
    "# Which memory should an OpenClaw user take?",
    `Memories for OpenClaw, asked the same questions in the same pinned gateway, without a language model as judge. We build helmdeck, one of them. [The protocol](../../bench/peers/README.md) was committed before the first run, and says how each figure is made and how a vendor changes its file. \`npm run bench:peers\` makes this page again.`,
    aboutRuns(kept),
    "## Where helmdeck is not first",
    "Every figure in which another system is better than helmdeck as its installer sets it up, with the cause. An empty plugin is the floor and no rival.",
    CAUSES,
    lostTable(tables),
    ...tables.flatMap(({ table: { title, text, columns }, rows }) => [
      `## ${title}`,
      text,
      table(
        ["system", ...columns.map((column) => column.title)],
        rows.map((row) => cellsOf(row, columns)),
      ),
    ]),
    "## The systems",
    systemsTable(systems, runs),
    "## Others that measure memories",
    PRIOR_ART,
    "",
  ].join("\n\n");
}

function aboutRuns(runs: readonly Run[]): string {
  const places = runs.map(({ about: { date, machine, seed } }) => `${date}, ${machine}; seed ${seed}`);
  const links = runs.map((_, at) => `[run ${at + 1}](../../bench/peers/kept/run-${at + 1}.jsonl.gz)`);
  const has = (measure: string) => runs.some(({ lines }) => lines.some((line) => line.measure === measure));
  const missing = [...(has("timed") ? [] : ["times and memory"]), ...(has("turn") ? [] : ["prompts"])];
  const notYet = missing.length === 0 ? "" : ` Not measured yet: ${missing.join(", ")}.`;
  const lacks = `${runs.length === 1 ? " One run so far." : ""}${notYet}`;
  return `${[...new Set(places)].join("; ")}.${lacks} Where runs differ, both ends are shown: questions are asked of systems with vectors in each run, of the others in the first. The figures are made of these lines: ${links.join(", ")} (JSON Lines; facts are numbers in them). \`npm run bench:peers -- --page\` makes this page of them.`;
}

function rowsOf({ byWay, columns }: Table, systems: readonly System[], runs: Lines): readonly Row[] {
  return systems.flatMap((system) => {
    const ofSystem = runs.map((run) => run.filter((line) => line.system === system.id));
    const ways = byWay ? waysIn(ofSystem.flat()) : [undefined];
    return ways.flatMap((way) => {
      const ofWay = ofSystem.map((lines) => lines.filter((line) => way === undefined || line.way === way));
      const figures = columns.map((column) => rangeOf(ofWay.map((lines) => column.of(lines))));
      const row = { system, figures, ...(way !== undefined && { way }) };
      return figures.some((figure) => figure !== undefined) ? [row] : [];
    });
  });
}

function rangeOf(figures: readonly (number | undefined)[]): readonly [number, number] | undefined {
  const known = figures.filter((figure) => figure !== undefined && !Number.isNaN(figure)) as number[];
  return known.length === 0 ? undefined : [Math.min(...known), Math.max(...known)];
}

function cellsOf({ system, way, figures }: Row, columns: readonly Column[]): readonly string[] {
  const name = OURS.has(system.id) ? `**${system.title}**` : system.title;
  return [
    way === undefined ? name : `${name}, ${way}`,
    ...columns.map((column, at) => shown(column, figures[at])),
  ];
}

function shown({ show }: Column, range: readonly [number, number] | undefined): string {
  if (range === undefined) return "";
  const [least, most] = range.map(show);
  return least === most ? `${least}` : `${least} – ${most}`;
}

/** One line for each figure that helmdeck loses by more than the spread of the runs. */
function lostTable(tables: readonly { readonly table: Table; readonly rows: readonly Row[] }[]): string {
  const lost = tables.flatMap(({ table: { title, columns }, rows }) =>
    columns.flatMap((column, at) => {
      const ours = bestOf(ofFirst(rows, USUAL), column, at);
      const rivals = rows.filter(({ system }) => !OURS.has(system.id) && system.id !== FLOOR);
      const best = bestOf(
        rivals.filter(({ system }) => !system.id.startsWith("helmdeck")),
        column,
        at,
      );
      if (ours === undefined || best === undefined || !isBetter(column, best.range, ours.range)) return [];
      if (shown(column, best.range) === shown(column, ours.range)) return [];
      const who = [best.row.system.title, ...(best.row.way === undefined ? [] : [best.row.way])].join(", ");
      const figure = `${title}: ${column.title}`;
      return [
        [
          figure,
          `${who}: ${shown(column, best.range)}`,
          shown(column, ours.range),
          `${column.cause ?? ""}${isOfLittle(column) ? foundBeside(columns, best.row, ours.row) : withEager(rows, column, at)}`,
        ],
      ];
    }),
  );
  return textTable(["figure", "first", "helmdeck", "cause, and what mends it"], lost);
}

/** The rows of the first of these systems that has any. */
function ofFirst(rows: readonly Row[], ids: readonly string[]): readonly Row[] {
  const has = ids.find((id) => rows.some(({ system }) => system.id === id));
  return rows.filter(({ system }) => system.id === has);
}

/** Whether a system that shows little is good at it. */
function isOfLittle({ better, title }: Column): boolean {
  return better === "less" || title === "precision";
}

/** Who shows less also finds less, or more. */
function foundBeside(columns: readonly Column[], best: Row, ours: Row): string {
  const at = columns.findIndex(({ title }) => title.endsWith("any@10"));
  const [column, theirs, own] = [columns[at], best.figures[at], ours.figures[at]];
  if (column === undefined || theirs === undefined || own === undefined || theirs[0] >= own[0]) return "";
  return ` The first finds ${shown(column, theirs)} of the answers, helmdeck ${shown(column, own)}.`;
}

/** What helmdeck finds with the setting that shows more, if it was asked with it. */
function withEager(rows: readonly Row[], column: Column, at: number): string {
  const eager = bestOf(ofFirst(rows, [EAGER]), column, at);
  return eager === undefined ? "" : ` With \`recall: eager\`: ${shown(column, eager.range)}.`;
}

interface Best {
  readonly row: Row;
  readonly range: readonly [number, number];
}

function bestOf(rows: readonly Row[], { better }: Column, at: number): Best | undefined {
  const known = rows.flatMap((row) => {
    const range = row.figures[at];
    return range === undefined ? [] : [{ row, range }];
  });
  const sign = better === "more" ? -1 : 1;
  return known.toSorted((left, right) => sign * (left.range[0] - right.range[0]))[0];
}

/** Beyond the spread of the runs. */
function isBetter(
  { better }: Column,
  [least, most]: readonly [number, number],
  [ourLeast, ourMost]: readonly [number, number],
): boolean {
  return better === "more" ? least > ourMost : most < ourLeast;
}

function systemsTable(systems: readonly System[], runs: Lines): string {
  const rows = systems.map((system) => {
    const ends = runs.flat().filter((line) => line.system === system.id && line.measure === "end");
    const bad = ends.filter(({ outcome }) => outcome !== "done");
    const state = ends.length === 0 ? "not run" : bad.length === 0 ? "admitted" : bad.map(told).join("; ");
    const link = system.settings.startsWith("http")
      ? `[settings](${system.settings})`
      : `[settings](../../${system.settings})`;
    return [system.title, system.version, link, state, system.note];
  });
  return textTable(["system", "version", "", "", "what a reader must know"], rows);
}

function told({ group, outcome, log = "" }: Line): string {
  const [first = ""] = log.split("\n");
  return `**${outcome}** (${group}): \`${first.replaceAll("|", "/").replaceAll("`", "'").slice(0, 160)}\``;
}
