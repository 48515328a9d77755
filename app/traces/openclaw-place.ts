/** Where OpenClaw keeps what its agents write: its state folder, and the folders that its configuration names. */
import { lstat, readdir, realpath } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";

/** OpenClaw 2026.9.6, docs/concepts/agent-workspace.md. */
export interface OpenClawPlace {
  readonly stateDir: string;
  readonly workspaces: readonly Workspace[];
  /** Files and folders outside of workspaces that are indexed with the notes. */
  readonly extraPaths?: readonly string[];
  /** What is not searched: a configuration that could not be read, folders in unusual places. */
  readonly problems?: readonly Unsearched[];
}

export interface Unsearched {
  readonly path: string;
  readonly why: string;
}

interface Workspace {
  readonly path: string;
  /** Absent for the one of agents that the configuration does not name. */
  readonly agentId?: string;
}

type Env = Readonly<Record<string, string | undefined>>;

/** `config`: OpenClaw's configuration, as parsed; undefined if there is none. */
export function openClawPlace(
  config: unknown,
  { stateDir, env, homeDir }: { readonly stateDir: string; readonly env: Env; readonly homeDir: string },
): OpenClawPlace {
  const at = (path: string) => resolve(path.replace(/^~(?=$|[\\/])/, () => homeDir));
  const agents = fieldOf(config, "agents");
  const shared = textOf(fieldOf(agents, "defaults", "workspace"));
  const entries = Object.entries(objectOf(fieldOf(agents, "entries")));
  const common = at(env.OPENCLAW_WORKSPACE_DIR?.trim() || (shared ?? join(stateDir, "workspace")));
  const own = entries.map(([agentId, entry]) => {
    const named = textOf(fieldOf(entry, "workspace"));
    const usual = shared === undefined ? join(stateDir, `workspace-${agentId}`) : join(shared, agentId);
    return { agentId, path: at(named ?? (entries.length === 1 ? common : usual)) };
  });
  const workspaces = [{ path: common }, ...own];
  const extra = [config, ...entries.map(([, entry]) => entry)].flatMap((one) =>
    listOf(fieldOf(one, "memory", "search", "extraPaths")),
  );
  const extraPaths = extra.flatMap((one) => textOf(one) ?? textOf(fieldOf(one, "path")) ?? []);
  return {
    ...{ stateDir, workspaces, extraPaths: extraPaths.flatMap((path) => inEach(workspaces, path, at)) },
    problems: unusual(config, entries, at).filter(({ path }) => !isWithin(stateDir, path)),
  };
}

/** A relative path is one for each workspace. */
function inEach(
  workspaces: readonly Workspace[],
  path: string,
  at: (path: string) => string,
): readonly string[] {
  const all = workspaces.map((workspace) => at(/^(~|\/)/.test(path) ? path : join(workspace.path, path)));
  return [...new Set(all)];
}

/** Where conversations or databases of agents may be kept outside of the state folder. */
function unusual(
  config: unknown,
  entries: readonly (readonly [string, unknown])[],
  at: (path: string) => string,
): readonly Unsearched[] {
  const store = textOf(fieldOf(config, "session", "store"));
  const folders = entries.flatMap(([, entry]) => textOf(fieldOf(entry, "agentDir")) ?? []);
  return [
    ...(store === undefined ? [] : [{ path: at(store), why: "conversations are kept there" }]),
    ...folders.map((path) => ({ path: at(path), why: "an agent's database is kept there" })),
  ];
}

function isWithin(folder: string, path: string): boolean {
  return !relative(folder, path).startsWith("..");
}

/**
 * The state folders of other gateways that are known: other profiles of this account, and the one in which the database lies.
 * Each is not searched.
 */
export async function otherPlaces(
  { stateDir }: OpenClawPlace,
  { databasePath, homeDir }: { readonly databasePath: string; readonly homeDir: string },
): Promise<readonly Unsearched[]> {
  const names = await readdir(homeDir).catch(() => []);
  const profiles = names
    .filter((name) => /^\.(openclaw|clawdbot)(-.+)?$/.test(name))
    .map((name) => join(homeDir, name));
  const real = async (path: string) => realpath(path).catch(() => path);
  const folders = await Promise.all([...profiles, dirname(dirname(databasePath))].map(real));
  const own = await real(stateDir);
  const others: Unsearched[] = [];
  for (const path of new Set(folders))
    if (path !== own && (await isStateFolder(path))) others.push({ path, why: ANOTHER_GATEWAY });
  return others;
}

const ANOTHER_GATEWAY =
  "another OpenClaw's state folder; to search it: OPENCLAW_STATE_DIR=<that folder> helmdeck-memory traces";

async function isStateFolder(path: string): Promise<boolean> {
  const marks = ["openclaw.json", "agents"].map((name) => lstat(join(path, name)));
  return (await Promise.allSettled(marks)).some(({ status }) => status === "fulfilled");
}

/** The folder that an agent writes in. */
export function workspaceOf({ workspaces }: OpenClawPlace, agentId: string): string | undefined {
  const own = workspaces.find((one) => one.agentId === agentId);
  return (own ?? workspaces.find((one) => one.agentId === undefined))?.path;
}

function fieldOf(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((at, name) => objectOf(at)[name], value);
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}
