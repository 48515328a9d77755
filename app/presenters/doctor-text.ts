/** Text of `doctor` for both command lines. */
import { harmlessLine } from "../../engine/facts/hostile-text.ts";
import type { DoctorReport, Finding } from "../memory.ts";
import type { Presented, Voice } from "./presented.ts";

const COLOURS = { ok: "green", warning: "yellow", error: "red" } as const;

export function doctorText({ findings }: DoctorReport, { style }: Pick<Voice, "style">): Presented {
  const lines = findings.flatMap((finding) => linesOf(finding, style));
  return { answer: [...lines, "", style("bold", conclusionOf(findings))], notes: [] };
}

/** The summary for a person who reads nothing else. */
function conclusionOf(findings: readonly Finding[]): string {
  const wrong = checksOf(findings.filter(({ level }) => level !== "ok"));
  const advised = checksOf(findings.filter(({ level, remedy }) => level === "ok" && remedy !== undefined));
  const also = advised.length === 0 ? "" : ` Also recommended: ${advised.join(", ")}.`;
  if (wrong.length === 0) return advised.length === 0 ? "Everything is fine." : `Everything works.${also}`;
  const count = wrong.length === 1 ? "1 problem needs attention" : `${wrong.length} problems need attention`;
  return `${count}: ${wrong.join(", ")}.${also}`;
}

/** Each check once, however many findings it has. */
function checksOf(findings: readonly Finding[]): readonly string[] {
  return [...new Set(findings.map(({ check }) => harmlessLine(check)))];
}

function linesOf({ level, check, message, remedy }: Finding, style: Voice["style"]): readonly string[] {
  const label = style(COLOURS[level], level.padEnd(7));
  return [
    `${label}  ${harmlessLine(check)}: ${harmlessLine(message)}`,
    ...(remedy === undefined ? [] : [`         → ${harmlessLine(remedy)}`]),
  ];
}
