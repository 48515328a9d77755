/** The texts of a release: the version, and the changelog with its closed section. */

export interface Release {
  readonly from: string;
  readonly version: string;
  readonly tag: string;
  readonly date: string;
  /** The complete file, with a new empty section. */
  readonly changelog: string;
  /** The section's text, for the message of the tag. */
  readonly notes: string;
}

const VERSION = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/;
const UNRELEASED = /^## \[?Unreleased\]?[^\n]*\n/m;

/** The version from the single argument. Throws if it is not later than the current one. */
export function newerVersion(given: readonly string[], from: string): string {
  const [version = "", ...more] = given;
  if (more.length > 0 || !VERSION.test(version))
    throw new Error("usage: npm run release -- VERSION [--dry-run], with a version such as 0.2.0");
  if (!isNewer(version, from)) throw new Error(`${version} is not later than ${from}, the current version.`);
  return version;
}

function isNewer(version: string, from: string): boolean {
  const [a, b] = [version, from].map((text) => text.split(".").map(Number));
  const at = [0, 1, 2].find((part) => a?.[part] !== b?.[part]);
  return at !== undefined && (a?.[at] ?? 0) > (b?.[at] ?? 0);
}

/** Throws if the file does not contain the version the expected number of times. */
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

/** `"version": "0.1.0"` in JSON, or a separate line in a page that shows the output of `--version`. */
function namings(version: string): RegExp {
  const escaped = version.replaceAll(".", "\\.");
  return new RegExp(`"version": "${escaped}"|^${escaped}$`, "gm");
}

/** Throws if there is nothing to release. */
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
