/** The figures of the page: each is made of raw lines, and undefined if a system has none for it. */
import { mean, quantile } from "../measured.ts";
import { WAYS } from "./system.ts";

/** One raw line. `measure` says which fields it has. */
export interface Line {
  readonly system: string;
  readonly group: string;
  readonly measure: string;
  readonly way?: string;
  readonly set?: string;
  readonly kind?: string;
  readonly wanted?: readonly string[];
  readonly shown?: readonly string[] | boolean;
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

function keysOf({ shown }: Line): readonly string[] {
  return Array.isArray(shown) ? shown : [];
}

/** Asking takes no time and its hits have no order, so a figure of these is not one. */
const isPrompt = ({ system }: Line) => system === "memory-md";

/** Of what a prompt holds, ten means all. */
function firstOf(line: Line, depth: number): readonly string[] {
  return depth === 10 && isPrompt(line) ? keysOf(line) : keysOf(line).slice(0, depth);
}

export const any = (depth: number) => (line: Line) => {
  if (depth < 10 && isPrompt(line)) return Number.NaN;
  return firstOf(line, depth).some((key) => line.wanted?.includes(key)) ? 1 : 0;
};
export const all = (depth: number) => (line: Line) => {
  const shown = firstOf(line, depth);
  return line.wanted?.every((key) => shown.includes(key)) ? 1 : 0;
};
export const tokens = ({ characters }: Line) => Number(characters) / 4;
export const facts = (line: Line) => keysOf(line).length;
export const inSet =
  (set: string): Test =>
  (line) =>
    line.set === set && (line.wanted?.length ?? 0) > 0;
export const ofKind =
  (set: string, kind: string): Test =>
  (line) =>
    line.set === set && line.kind === kind;
export const unanswerable =
  (set: string): Test =>
  (line) =>
    line.set === set && line.wanted?.length === 0;

export function precision(test: Test): Figure {
  return (lines) => {
    const of = lines.filter((line) => line.measure === "question" && test(line));
    const shown = of.reduce((sum, line) => sum + keysOf(line).length, 0);
    const right = of.flatMap((line) => keysOf(line).filter((key) => line.wanted?.includes(key))).length;
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
    const of = lines.filter(({ measure }) => measure === "question");
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
