/** Where OpenClaw keeps what its agents write: its state folder, and the workspaces that its configuration names. */
import { join, resolve } from "node:path";

/** OpenClaw 2026.9.6, docs/concepts/agent-workspace.md. */
export interface OpenClawPlace {
  readonly stateDir: string;
  readonly workspaces: readonly Workspace[];
  /** As parsed; it may name more places (`places-outside.ts`). */
  readonly config?: unknown;
  /** Its configuration, when it could not be read: then only the usual workspaces are known. */
  readonly problem?: Unsearched;
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
  return { stateDir, workspaces: [{ path: common }, ...own], config };
}

/** The folder that an agent writes in. */
export function workspaceOf({ workspaces }: OpenClawPlace, agentId: string): string | undefined {
  const own = workspaces.find((one) => one.agentId === agentId);
  return (own ?? workspaces.find((one) => one.agentId === undefined))?.path;
}

export function fieldOf(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((at, name) => objectOf(at)[name], value);
}

export function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}
