/** `doctor` on both command lines. */
import { harmlessLine } from "../../engine/index.ts";
import type { DoctorReport, Finding } from "../memory.ts";
import type { Presented, Voice } from "./presented.ts";

const COLOURS = { ok: "green", warning: "yellow", error: "red" } as const;

export function doctorText({ findings, store }: DoctorReport, { style }: Pick<Voice, "style">): Presented {
  const lines = findings.flatMap((finding) => linesOf(finding, style));
  return { answer: [...lines, ...(store === undefined ? [] : [storeLine(store)])], notes: [] };
}

function linesOf({ level, check, message, remedy }: Finding, style: Voice["style"]): readonly string[] {
  const label = style(COLOURS[level], level.padEnd(7));
  return [
    `${label}  ${harmlessLine(check)}: ${harmlessLine(message)}`,
    ...(remedy === undefined ? [] : [`         → ${harmlessLine(remedy)}`]),
  ];
}

function storeLine(store: NonNullable<DoctorReport["store"]>): string {
  const { backend, schemaVersion, entries, expired, unreadable } = store;
  const settings = Object.entries(store.settings).map(([name, value]) => `${name} ${value}`);
  return `store    ${backend}, schema ${schemaVersion}, ${entries} entries, ${expired} expired, ${unreadable} unreadable; ${settings.join(", ")}`;
}
