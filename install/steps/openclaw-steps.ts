/** The steps that change OpenClaw: its plugin, its network, the copy of its configuration. What a change replaces is recorded before it. */
import { mkdtemp, readFile, rm, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HelmdeckError, nodeSqliteDriver, openMemory } from "../../app/index.ts";
import { OVERRIDE_MARK } from "../inspect/attachment.ts";
import { NETWORK } from "../install-names.ts";
import { fingerprint } from "../journal.ts";
import { parseJson5 } from "../json5.ts";
import { at, type Json } from "../openclaw-json.ts";
import { requireOpenClaw, type Work } from "../step-context.ts";
import { patchBetween, withoutPlugin } from "../undo.ts";
import { writing } from "./settings-steps.ts";
import type { Step } from "./step-kinds.ts";

type Of<Kind extends Step["kind"]> = Extract<Step, { kind: Kind }>;
type Maybe = Json | undefined;

/** Opening memory once makes its key, as the plugin would. */
export async function makeKey({ databasePath, keyPath }: Of<"make-key">, { world }: Work): Promise<void> {
  const { env } = world;
  const memory = await openMemory({ databasePath, keyPath, env, driver: nodeSqliteDriver, sweepEveryMs: 0 });
  await memory.close();
}

export async function backUpConfig({ configPath }: Of<"back-up-config">, work: Work): Promise<void> {
  const { journal } = work.world;
  const bytes = await requireOpenClaw(work).readConfigFile(configPath);
  if (bytes !== undefined) await journal.keepCopy(bytes);
  await journal.record({
    config: { path: configPath, existed: bytes !== undefined },
    leftAs: fingerprint(bytes),
  });
}

export async function installPlugin({ configPath }: Of<"install-plugin">, work: Work): Promise<void> {
  const openclaw = requireOpenClaw(work);
  const { journal, run, root } = work.world;
  await journal.record({ target: openclaw.target, installedPlugin: true });
  const folder = await mkdtemp(join(tmpdir(), "helmdeck-plugin-"));
  try {
    const packed = await run("npm", [
      "pack",
      "--silent",
      "--pack-destination",
      folder,
      join(root, "dist", "plugin"),
    ]);
    const name = packed.stdout.trim().split("\n").at(-1);
    if (packed.exitCode !== 0 || !name)
      throw new HelmdeckError(
        "upstream_failed",
        "npm pack failed; npm is part of Node, and OpenClaw needs it too.",
      );
    await writing(configPath, work, async () => {
      await withFileThere(openclaw, join(folder, name), (path) => openclaw.installPlugin(path));
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

type Runs = Pick<ReturnType<typeof requireOpenClaw>, "target" | "exec">;

/** The file where OpenClaw runs; in a container a copy that is gone afterwards. */
async function withFileThere(
  openclaw: Runs,
  file: string,
  use: (path: string) => Promise<void>,
): Promise<void> {
  if (openclaw.target.kind === "host") return use(file);
  const copy = `/tmp/helmdeck-plugin-${process.pid}.tgz`;
  const ran = await openclaw.exec(["sh", "-c", 'cat > "$1"', "sh", copy], { input: await readFile(file) });
  if (ran.exitCode !== 0)
    throw new HelmdeckError(
      "upstream_failed",
      "The container takes no file in /tmp; give it a writable one.",
    );
  try {
    await use(copy);
  } finally {
    await openclaw.exec(["rm", "-f", copy]);
  }
}

export async function uninstallPlugin(step: Of<"uninstall-plugin">, work: Work): Promise<void> {
  const openclaw = requireOpenClaw(work);
  const { journal } = work.world;
  const plugins = async () => at(await openclaw.authoredConfig(step.configPath), "plugins");
  await writing(step.configPath, work, async () => {
    const [before, last] = [at(await configBefore(work), "plugins"), await plugins()];
    if (step.isThere) await openclaw.uninstallPlugin(step.plugin);
    // A running gateway leaves a switched-off entry behind; what an operator had in it goes.
    const now = await plugins();
    const allowed = journal.entries.search?.allowed ?? [];
    const patch = patchBetween(now, withoutPlugin({ before, last, now }, step.plugin, allowed));
    if (patch !== undefined) await openclaw.patchConfig({ plugins: patch });
  });
  await journal.record({ installedPlugin: undefined });
}

async function configBefore({ world }: Work): Promise<Maybe> {
  const copy = await world.journal.readCopy();
  return copy === undefined ? undefined : parseJson5(copy.toString("utf8"));
}

export async function restoreConfigCopy(
  { configPath }: Of<"restore-config-copy">,
  work: Work,
): Promise<void> {
  const { journal } = work.world;
  const copy = await journal.readCopy();
  if (copy === undefined) throw new HelmdeckError("not_found", `The copy of ${configPath} is gone.`);
  if (journal.entries.search !== undefined) await journal.record({ indexDue: true });
  await requireOpenClaw(work).writeConfigFile(configPath, copy);
  await journal.record({ search: undefined, facts: undefined, config: undefined, leftAs: undefined });
}

export async function attachContainer(step: Of<"attach-container">, work: Work): Promise<void> {
  const { docker, journal } = work.world;
  const { container, override } = step;
  await journal.record({
    target: requireOpenClaw(work).target,
    attached: { container, ...(override === undefined ? {} : { overrideFile: override.file }) },
  });
  if (override !== undefined) await writeFile(override.file, overrideText(override), { flag: "wx" });
  const networks = (await docker.container(container))?.NetworkSettings.Networks ?? {};
  if (!Object.hasOwn(networks, NETWORK)) await docker.connect(container);
}

/** Every network by name: one that is named makes compose leave out the default one. */
function overrideText({ service, networks }: NonNullable<Of<"attach-container">["override"]>): string {
  const lines = [
    OVERRIDE_MARK,
    "# so that this service is on the embedding sidecar's network also when compose makes it anew. --uninstall deletes it.",
    "services:",
    `  ${service}:`,
    "    networks:",
    ...networks.map((network) => `      ${network}: {}`),
    "networks:",
    `  ${NETWORK}:`,
    "    external: true",
  ];
  return `${lines.join("\n")}\n`;
}

export async function detachContainer({ container }: Of<"detach-container">, work: Work): Promise<void> {
  const { docker, journal } = work.world;
  const { attached } = journal.entries;
  if (attached?.overrideFile !== undefined) await deleteOurs(attached.overrideFile);
  const networks = (await docker.container(container))?.NetworkSettings.Networks ?? {};
  if (Object.hasOwn(networks, NETWORK)) await docker.disconnect(container);
  await journal.record({ attached: undefined });
}

async function deleteOurs(file: string): Promise<void> {
  const text = await readFile(file, "utf8").catch(() => "");
  if (text.startsWith(OVERRIDE_MARK)) await unlink(file);
}
