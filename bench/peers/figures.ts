/**
 * The figures of the page: each is made of lines, and undefined if a system has none for it. The lines are kept in the repository
 * (`kept/`), so that the page can be made from them: with places instead of names and texts, because LoCoMo's may not be copied.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import type { JsonObject } from "../../scripts/openclaw-host/openclaw-host.ts";
import { mean, quantile } from "../measured.ts";
import { WAYS } from "./system.ts";

/** `measure` says which fields it has. */
export interface Line {
  readonly system: string;
  readonly group: string;
  readonly measure: string;
  readonly way?: string;
  readonly set?: string;
  readonly kind?: string;
  /** How many facts are wanted, at which places of those shown they are, from 1 on, and how many are shown. */
  readonly wanted?: number;
  readonly places?: readonly number[];
  readonly facts?: number;
  readonly shown?: boolean;
  readonly files?: readonly string[];
  readonly agent?: string;
  readonly moment?: string;
  readonly state?: string;
  readonly outcome?: string;
  readonly log?: string;
  readonly isError?: boolean;
  readonly isFirst?: boolean;
  readonly saysSo?: boolean;
  readonly found?: boolean | number;
  readonly has?: boolean;
  readonly [number: string]: unknown;
}

export type Figure = (lines: readonly Line[]) => number | undefined;

type Test = (line: Line) => boolean;

export function asked(test: Test, figure: (line: Line) => number): Figure {
  return (lines) => {
    const of = lines.filter((line) => line.measure === "question" && test(line));
    return of.length === 0 ? undefined : mean(of.map(figure));
  };
}

/** Asking takes no time and its hits have no order, so a figure of these is not one. */
const isPrompt = ({ system }: Pick<Line, "system">) => system === "memory-md";

/** Of what a prompt holds, ten means all. */
function placesWithin({ places = [], ...line }: Line, depth: number): readonly number[] {
  return depth === 10 && isPrompt(line) ? places : places.filter((place) => place <= depth);
}

export const any = (depth: number) => (line: Line) => {
  if (depth < 10 && isPrompt(line)) return Number.NaN;
  return placesWithin(line, depth).length > 0 ? 1 : 0;
};
export const all = (depth: number) => (line: Line) =>
  placesWithin(line, depth).length === line.wanted ? 1 : 0;
export const tokens = ({ characters }: Line) => Number(characters) / 4;
export const facts = ({ facts = 0 }: Line) => facts;
export const inSet =
  (set: string): Test =>
  (line) =>
    line.set === set && (line.wanted ?? 0) > 0;
export const ofKind =
  (set: string, kind: string): Test =>
  (line) =>
    line.set === set && line.kind === kind;
export const unanswerable =
  (set: string): Test =>
  (line) =>
    line.set === set && line.wanted === 0;

export function precision(test: Test): Figure {
  return (lines) => {
    const of = lines.filter((line) => line.measure === "question" && test(line));
    const shown = of.reduce((sum, line) => sum + facts(line), 0);
    const right = of.flatMap(({ places = [] }) => places).length;
    return shown === 0 ? undefined : right / shown;
  };
}

/** A median, in milliseconds. */
export function median(measure: string, field = "ms"): Figure {
  return (lines) => {
    const of = lines.filter((line) => line.measure === measure);
    return of.length === 0
      ? undefined
      : quantile(
          of.map((line) => Number(line[field])),
          0.5,
        );
  };
}

export function time(share: number): Figure {
  return (lines) => {
    const of = lines.filter((line) => line.measure === "timed" && !isPrompt(line));
    return of.length === 0
      ? undefined
      : quantile(
          of.map(({ ms }) => Number(ms)),
          share,
        );
  };
}

export function meanOf(test: Test, figure: (line: Line) => number): Figure {
  return (lines) => {
    const of = lines.filter(test);
    return of.length === 0 ? undefined : mean(of.map(figure));
  };
}

export const isTrue = (field: string) => (line: Line) => (line[field] === true ? 1 : 0);
export const isFirst = (line: Line) => (isPrompt(line) ? Number.NaN : line.isFirst === true ? 1 : 0);
export const canary = (moment: string): Figure =>
  meanOf(
    ({ measure, moment: at }) => measure === "canary" && at === moment,
    ({ files }) => files?.length ?? 0,
  );
export const shownTo = (agent: string, moment: string): Figure =>
  meanOf(
    (line) => line.measure === "canary shown" && line.agent === agent && line.moment === moment,
    isTrue("shown"),
  );
export const contradiction =
  (kind: string): Test =>
  (line) =>
    line.measure === "contradiction" && line.kind === kind;
export const provider =
  (state: string): Test =>
  (line) =>
    line.measure === "provider" && line.state === state;
export const expiry = (moment: string): Figure =>
  meanOf(({ measure, moment: at }) => measure === "expiry" && at === moment, isTrue("found"));

/** The ways that a system was asked in. */
export function waysIn(lines: readonly Line[]): readonly string[] {
  return WAYS.filter((way) => lines.some((line) => line.way === way));
}

/** A run as it is kept: when and where it was, and its lines. */
export interface Run {
  readonly about: {
    readonly date: string;
    readonly machine: string;
    readonly seed: number;
    readonly hasLocomo: boolean;
  };
  readonly lines: readonly Line[];
}

export function writeRun(path: string, { about, lines }: Run): void {
  const text = [about, ...lines].map((line) => `${JSON.stringify(line)}\n`).join("");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, gzipSync(text, { level: 9 }));
}

export function readRun(path: string): Run {
  const [about, ...lines] = gunzipSync(readFileSync(path))
    .toString("utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  return { about, lines };
}

const PATH = /(?<![\w.])(?:\/[^\s/"'`:,)]+)+\/(?=[^\s/"'`:,)])/g;
const LOG_CHARS = 1_500;

/** Of a raw line: names and questions become numbers, and paths of this machine their last parts. */
export function keptLine({ question: _, wanted, shown, hits, log, ...line }: JsonObject): Line {
  const kept = {
    ...line,
    ...(typeof log === "string" && { log: log.slice(0, LOG_CHARS).replaceAll(PATH, "") }),
  };
  if (!Array.isArray(wanted) || !Array.isArray(shown))
    return { ...kept, ...(typeof shown === "boolean" && { shown }) } as unknown as Line; // a line of the measures
  const places = shown.flatMap((key, at) => (wanted.includes(key) ? [at + 1] : []));
  return { ...kept, wanted: wanted.length, places, facts: shown.length } as unknown as Line; // the same
}
