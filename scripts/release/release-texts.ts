/** What a release writes: the version, and the changelog with the section that it closes. */

export interface Release {
  readonly from: string;
  readonly version: string;
  readonly tag: string;
  readonly date: string;
  /** The whole file, with an empty section for what comes next. */
  readonly changelog: string;
  /** What the section holds: the message of the tag. */
  readonly notes: string;
}

const VERSION = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/;
const UNRELEASED = /^## \[?Unreleased\]?[^\n]*\n/m;

/** The one argument, where it is a later version than this one. Throws what is wrong with it. */
export function newerVersion(given: readonly string[], from: string): string {
  const [version = "", ...more] = given;
  if (more.length > 0 || !VERSION.test(version))
    throw new Error("usage: npm run release -- VERSION [--dry-run], with a version such as 0.2.0");
  if (!isNewer(version, from)) throw new Error(`${version} is not later than ${from}, the version of now.`);
  return version;
}

function isNewer(version: string, from: string): boolean {
  const [a, b] = [version, from].map((text) => text.split(".").map(Number));
  const at = [0, 1, 2].find((part) => a?.[part] !== b?.[part]);
  return at !== undefined && (a?.[at] ?? 0) > (b?.[at] ?? 0);
}

/** Throws where the file does not name the version as often as it should: something else would be changed, or left. */
export function withVersion(
  file: string,
  text: string,
  { from, version }: Pick<Release, "from" | "version">,
  times: number,
): string {
  const named = namings(from);
  const found = text.match(named)?.length ?? 0;
  if (found < times) throw new Error(`${file} names ${from} ${found} times, not ${times}.`);
  let left = times;
  return text.replace(named, (match) => (left-- > 0 ? match.replace(from, version) : match));
}

/** `"version": "0.1.0"` of JSON, and a line of its own in a page that shows what `--version` prints. */
function namings(version: string): RegExp {
  const escaped = version.replaceAll(".", "\\.");
  return new RegExp(`"version": "${escaped}"|^${escaped}$`, "gm");
}

/** Throws when there is nothing to release. */
export function closeChangelog(
  changelog: string,
  version: string,
  date: string,
): Pick<Release, "changelog" | "notes"> {
  const heading = UNRELEASED.exec(changelog);
  if (heading === null) throw new Error('CHANGELOG.md has no section "Unreleased".');
  const start = heading.index + heading[0].length;
  const next = changelog.slice(start).search(/^## /m);
  const notes = changelog.slice(start, next === -1 ? undefined : start + next).trim();
  if (notes === "") throw new Error('CHANGELOG.md has nothing under "Unreleased".');
  const closed = `## [Unreleased]\n\n## [${version}] - ${date}\n`;
  return {
    notes: `helmdeck memory ${version}\n\n${notes}`,
    changelog: changelog.slice(0, heading.index) + closed + changelog.slice(start),
  };
}
