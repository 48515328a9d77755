/** Formats times, counts and sizes for people. Times are UTC here: the pages' script shows each `<time>` as its reader's clock does. */
import { writerText } from "../engine/projections/frame.ts";
import { dateOf, isDay, isKnownTime } from "../engine/rfc3339.ts";
import type { Writer } from "../engine/store/writer.ts";
import { type Html, html } from "./html.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** The range of a date; a damaged row may contain any number. */
const LAST_MS = 8.64e15;

const STEPS = [
  { from: 2 * 365 * DAY, unit: "year", ms: 365 * DAY },
  { from: 120 * DAY, unit: "month", ms: 30 * DAY },
  { from: 2 * DAY, unit: "day", ms: DAY },
  { from: 2 * HOUR, unit: "hour", ms: HOUR },
  { from: MINUTE, unit: "minute", ms: MINUTE },
] as const;
const RELATIVE = new Intl.RelativeTimeFormat("en", { numeric: "always" });

/** `in 3 days`, `5 hours ago`, `just now`. */
function fromNow(now: number, at: number): string {
  const apart = at - now;
  const step = STEPS.find(({ from }) => Math.abs(apart) >= from);
  if (step === undefined) return apart > 0 ? "in a moment" : "just now";
  return RELATIVE.format(Math.round(apart / step.ms), step.unit);
}

/** `2026-11-20 22:53`, in UTC. */
function minuteOf(at: number): string {
  return isDate(at) ? new Date(at).toISOString().slice(0, 16).replace("T", " ") : "at no known time";
}

/** `22:53:07`, in UTC; of a day nothing. */
export function clock(at: number): Html {
  if (isDay(at)) return html`<time datetime="${dateOf(at)}"></time>`;
  if (!isDate(at)) return html`?`;
  const iso = new Date(at).toISOString();
  return html`<time datetime="${iso}">${iso.slice(11, 19)}</time>`;
}

const WEEKDAY = new Intl.DateTimeFormat("en-GB", {
  ...{ weekday: "long", day: "numeric", month: "long", year: "numeric" },
  timeZone: "UTC",
});

/** `Friday 20 November 2026`, in UTC. */
export function dayName(at: number): string {
  return isDate(at) ? WEEKDAY.format(at).replace(",", "") : "At no known time";
}

/** `2026-11-20` */
export function dayOf(at: number): string {
  return isDate(at) ? new Date(at).toISOString().slice(0, 10) : "";
}

/** Relative time, with the exact time as title; of a day its date. */
export function time(now: number, at: number): Html {
  if (isDay(at)) return dateHtml(at);
  if (!isDate(at)) return html`${minuteOf(at)}`;
  return html`<time datetime="${new Date(at).toISOString()}" title="${minuteOf(at)} UTC">${fromNow(now, at)}</time>`;
}

/** `2026-11-20 22:53 UTC (5 hours ago)`; `2026-11-20` for a day. */
export function exactTime(now: number, at: number): Html {
  if (isDay(at)) return dateHtml(at);
  return isDate(at) ? html`${minute(at)} <span class="muted">(${fromNow(now, at)})</span>` : minute(at);
}

/** `2026-11-20 22:53 UTC` */
export function minute(at: number): Html {
  if (!isDate(at)) return html`${minuteOf(at)}`;
  return html`<time datetime="${new Date(at).toISOString()}">${minuteOf(at)} UTC</time>`;
}

function dateHtml(day: number): Html {
  return html`<time datetime="${dateOf(day)}">${dateOf(day)}</time>`;
}

/** `1 fact`, `12 facts`, `10,000 facts`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${number(count)} ${count === 1 ? one : many}`;
}

export function number(count: number): string {
  return count.toLocaleString("en-GB");
}

/** `640 bytes`, `12 KiB`, `3.4 MiB`. */
export function size(bytes: number): string {
  if (bytes < 1_024) return counted(bytes, "byte");
  const [value, unit] = bytes < 1_048_576 ? [bytes / 1_024, "KiB"] : [bytes / 1_048_576, "MiB"];
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${unit}`;
}

/** `340 ms`, `12.4 s`, `3 min`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  return ms < 2 * MINUTE ? `${(ms / 1_000).toFixed(1)} s` : `${Math.round(ms / MINUTE)} min`;
}

function isDate(at: number): boolean {
  return isKnownTime(at) && at <= LAST_MS;
}

/** Who stored it: `you, on a command line`, `agent main, in OpenClaw (direct)`, `an import`. */
export function writerWords(writer: Writer): string {
  return writerText(writer, "person");
}
