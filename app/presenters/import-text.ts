/** Text of `import` for both command lines: the preview and the result, for people and scripts. */
import { defined, harmlessLine, rfc3339 } from "../../engine/index.ts";
import type { KnownImport } from "../memory.ts";
import type { ImportResult, RefusedLine } from "../transfer/import-counts.ts";
import { firstWords } from "./excerpt.ts";
import { expiryFrom, localMinute } from "./local-times.ts";
import type { Presented, Voice } from "./presented.ts";

const SHOWN_REFUSALS = 10;
/** A refused key may be of any length. */
const SHOWN_KEY_CHARACTERS = 120;
const VERBS = { stored: "new", replaced: "replaces", kept: "stays as it is here" } as const;

export const IMPORT_WANTS_YES =
  "import asks before it writes; without a terminal it needs --yes, or --dry-run for a preview.";

/** The preview. */
export function importPreview(result: ImportResult, { caller, now }: Voice): readonly string[] {
  const { stored, replaced, refreshed, audit, kept, retired, refusedCount, refused } = result;
  const { first = [], endsAt, gone = 0 } = result.foreseen ?? {};
  const { importId, leftOut, owners = [] } = result;
  const more = stored + replaced + kept - first.length;
  const shown = refused.slice(0, SHOWN_REFUSALS);
  return [
    `This would import ${stored + replaced + refreshed + audit} for ${takersText(result, caller)}: ${countsText(result)}.`,
    ...owners.map(({ from, to, entries }) => `  ${harmlessLine(from)} → ${harmlessLine(to)}: ${entries}`),
    ...(owners.length > 0 ? ["To give a caller's memory to another agent, add --map FROM=TO."] : []),
    ...first.map(
      ({ key, value, outcome }) => `  ${harmlessLine(key)}: ${firstWords(value)} (${VERBS[outcome]})`,
    ),
    ...(first.length > 0 && more > 0 ? [`  … and ${more} more.`] : []),
    ...(kept > 0 ? [`Kept, because memory has a newer value: ${kept}.`] : []),
    ...(retired > 0 ? [`Left out, because other facts superseded them: ${retired}.`] : []),
    ...(leftOut !== undefined ? [`Left out: ${leftOutText(leftOut)}.`] : []),
    ...(refusedCount > 0 ? [`Refused: ${refusedCount}.`] : []),
    ...shown.map((line) => `  ${refusalText(line)}`),
    ...(refusedCount > shown.length ? [`  … and ${refusedCount - shown.length} more.`] : []),
    ...(gone > 0 ? [`No longer in these files; kept until you forget them: ${gone}.`] : []),
    ...(endsAt === undefined
      ? []
      : [`Imported facts expire ${localMinute(endsAt)} (${expiryFrom(now, endsAt)}).`]),
    ...(importId === undefined ? [] : ["One command will undo the whole import; it is shown afterwards."]),
  ];
}

export function importText(result: ImportResult, voice: Voice): Presented {
  const { stored, replaced, refreshed, kept, retired, audit, refused, refusedCount, leftOut } = result;
  const imported = stored + replaced + refreshed + audit;
  const isEmpty = imported + kept + retired + refusedCount === 0 && leftOut === undefined;
  const stays = kept === 0 ? "" : ` Kept as they were: ${kept}.`;
  const left = leftOut === undefined ? "" : ` Left out: ${leftOutText(leftOut)}.`;
  return {
    answer: [
      `Imported ${imported} for ${takersText(result, voice.caller)}: ${countsText(result)}.${stays}${left} Refused: ${refusedCount}.`,
    ],
    notes: [
      ...refused.map(refusalText),
      ...(refusedCount > refused.length ? [`… and ${refusedCount - refused.length} more.`] : []),
      ...(retired > 0 ? [retiredText(retired)] : []),
      ...(isEmpty ? ["There was nothing to import."] : []),
      ...takeBackTexts(result, voice),
    ],
  };
}

/** A dry run includes the keys of the first facts. Values are only shown to people on a terminal. */
export function importReply({
  refusedCount,
  refused,
  leftOut,
  importId,
  takers,
  owners,
  foreseen,
  ...counts
}: ImportResult) {
  return {
    ...counts,
    refused_count: refusedCount,
    refused,
    ...defined({ left_out: leftOut, owners }),
    ...(foreseen === undefined ? defined({ import: importId, takers }) : foreseenReply(foreseen)),
  };
}

function foreseenReply({ first, gone, endsAt }: NonNullable<ImportResult["foreseen"]>) {
  return {
    dry_run: true,
    first: first.map(({ key, outcome }) => ({ key, outcome })),
    gone,
    ...(endsAt !== undefined && { ends_at: rfc3339(endsAt) }),
  };
}

export function importsText(imports: readonly KnownImport[], { command }: Voice): Presented {
  return {
    answer: imports.map((known) => `import:${known.id}  ${importCounts(known)}`),
    notes: [
      imports.length === 0
        ? `No import is left in memory. ${command} import --help lists what can be imported.`
        : `${command} forget import:<id> undoes one import.`,
    ],
  };
}

/** `2 facts, 1 record of runs, and 1 in the history of facts that were changed since` */
export function importCounts({ facts, former, records = 0 }: KnownImport): string {
  const runs = records === 0 ? "" : `, ${records === 1 ? "1 record" : `${records} records`} of runs`;
  const past = former === 0 ? "" : `, and ${former} in the history of facts that were changed since`;
  return `${facts === 1 ? "1 fact" : `${facts} facts`}${runs}${past}`;
}

/** Everyone who received entries, if the source names owners. */
function takersText({ owners }: ImportResult, caller: string): string {
  return [...new Set(owners?.map(({ to }) => to) ?? [caller])].map(harmlessLine).join(", ");
}

function takeBackTexts({ importId, takers }: ImportResult, { command }: Voice): readonly string[] {
  if (importId === undefined) return [];
  return [`To undo this: ${command} forget import:${importId}${takers === undefined ? "" : " --everyone"}`];
}

function countsText({ stored, replaced, refreshed, audit }: ImportResult): string {
  return `${stored} new, ${replaced} replaced, ${refreshed} refreshed, ${audit} audit rows`;
}

function leftOutText(leftOut: NonNullable<ImportResult["leftOut"]>): string {
  return Object.entries(leftOut)
    .map(([what, count]) => (count === 1 ? what : `${what} (${count} times)`))
    .join(", ");
}

function retiredText(retired: number): string {
  return `Left out ${retired} that other facts superseded since. Undo those, or store the facts again.`;
}

function refusalText({ file, line, key, code, reason }: RefusedLine): string {
  const place = key === undefined ? `line ${line}` : `"${harmlessLine(key.slice(0, SHOWN_KEY_CHARACTERS))}"`;
  const where = file === undefined ? place : `${harmlessLine(file)}, ${place}`;
  return `${where}: ${code}: ${harmlessLine(reason)}`;
}
