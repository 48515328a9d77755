/** Places outside of OpenClaw's state folder and workspaces: those that its configuration names, and other gateways. */
import { lstat, readdir, realpath } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import { fieldOf, type OpenClawPlace, objectOf, textOf, type Unsearched } from "./openclaw-place.ts";

export interface PlacesOutside {
  /** Files and folders that OpenClaw indexes with the notes. */
  readonly extraPaths: readonly string[];
  readonly unsearched: readonly Unsearched[];
}

/** OpenClaw 2026.9.6, docs/reference/memory-config.md. `databasePath`: of our memory, which may lie at another gateway. */
export async function placesOutside(
  place: OpenClawPlace,
  around: { readonly databasePath: string; readonly homeDir: string },
): Promise<PlacesOutside> {
  const { config, problem } = place;
  const entries = Object.values(objectOf(fieldOf(config, "agents", "entries")));
  const fromHome = (path: string) => path.replace(/^~(?=$|[\\/])/, () => around.homeDir);
  const extra = [config, ...entries].flatMap((one) => listOf(fieldOf(one, "memory", "search", "extraPaths")));
  const named = extra.flatMap((one) => textOf(one) ?? textOf(fieldOf(one, "path")) ?? []).map(fromHome);
  const inEach = named.flatMap((path) =>
    isAbsolute(path) ? [path] : place.workspaces.map((workspace) => resolve(workspace.path, path)),
  );
  // Where conversations or databases of agents may be kept outside of the state folder.
  const store = textOf(fieldOf(config, "session", "store"));
  const folders = entries.flatMap((entry) => textOf(fieldOf(entry, "agentDir")) ?? []);
  const unusual = [
    ...(store === undefined ? [] : [{ path: store, why: "conversations are kept there" }]),
    ...folders.map((path) => ({ path, why: "an agent's database is kept there" })),
  ].map(({ path, why }) => ({
    path: resolve(fromHome(path)),
    why,
  }));
  return {
    extraPaths: [...new Set(inEach)],
    unsearched: [
      ...(problem === undefined ? [] : [problem]),
      ...unusual.filter(({ path }) => relative(place.stateDir, path).startsWith("..")),
      ...(await otherGateways(place, around)),
    ],
  };
}

/** Those that are known: other profiles of this account, and the one in whose folder the database lies. */
async function otherGateways(
  { stateDir }: OpenClawPlace,
  { databasePath, homeDir }: { readonly databasePath: string; readonly homeDir: string },
): Promise<readonly Unsearched[]> {
  const names = await readdir(homeDir).catch(() => []);
  const profiles = names.filter((name) => /^\.(openclaw|clawdbot)(-.+)?$/.test(name));
  const real = async (path: string) => realpath(path).catch(() => path);
  const folders = [...profiles.map((name) => join(homeDir, name)), dirname(dirname(databasePath))];
  const own = await real(stateDir);
  const others: Unsearched[] = [];
  for (const path of new Set(await Promise.all(folders.map(real))))
    if (path !== own && (await isStateFolder(path))) others.push({ path, why: ANOTHER_GATEWAY });
  return others;
}

const ANOTHER_GATEWAY =
  "another OpenClaw's state folder, whose exports and backups are known there; to search it: OPENCLAW_STATE_DIR=<that folder> helmdeck-memory traces";

async function isStateFolder(path: string): Promise<boolean> {
  const marks = ["openclaw.json", "agents"].map((name) => lstat(join(path, name)));
  return (await Promise.allSettled(marks)).some(({ status }) => status === "fulfilled");
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
