/** Attaches OpenClaw's container to the sidecar's network, and keeps it attached when compose recreates the container. */
import { readFile, unlink, writeFile } from "node:fs/promises";
import { OVERRIDE_MARK } from "../inspect/inspect-docker.ts";
import { NETWORK } from "../install-names.ts";
import type { Docker } from "../run-docker.ts";
import { EXIT, requireOpenClaw, type StepDefinition } from "./step-definition.ts";

interface AttachContainer {
  readonly kind: "attach-container";
  readonly container: string;
  readonly network: string;
  /** Makes compose attach the container again when it recreates it. */
  readonly override: Override | undefined;
}
interface Override {
  readonly file: string;
  readonly service: string;
  readonly networks: readonly string[];
}
interface DetachContainer {
  readonly kind: "detach-container";
  readonly container: string;
  readonly network: string;
}

export const attachContainer: StepDefinition<AttachContainer, DetachContainer> = {
  kind: "attach-container",
  title: ({ container, network }) => `attach the container ${container} to ${network}`,
  detail: ({ override }) =>
    override === undefined ? undefined : `writes ${override.file} so that it stays attached`,
  exitCode: EXIT.openclaw,
  record: ({ container, override }, context) => ({
    target: requireOpenClaw(context).target,
    attached: { container, ...(override === undefined ? {} : { overrideFile: override.file }) },
  }),
  run: async ({ container, override }, { environment: { docker } }) => {
    if (override !== undefined) await writeFile(override.file, overrideText(override), { flag: "wx" });
    if (!(await isAttached(docker, container))) await docker.connect(container);
  },
  undo: {
    kind: "detach-container",
    title: ({ container, network }) => `detach the container ${container} from ${network}`,
    exitCode: EXIT.openclaw,
    plan: ({ journal: { attached }, docker }) =>
      docker !== undefined && attached !== undefined
        ? { kind: "detach-container", container: attached, network: NETWORK }
        : undefined,
    run: async ({ container }, { environment: { docker, journal } }) => {
      const overrideFile = journal.entries.attached?.overrideFile;
      if (overrideFile !== undefined) await deleteOurs(overrideFile);
      if (await isAttached(docker, container)) await docker.disconnect(container);
    },
    forgets: ["attached"],
  },
};

async function isAttached(docker: Docker, container: string): Promise<boolean> {
  const { Networks } = (await docker.container(container))?.NetworkSettings ?? {};
  return Object.hasOwn(Networks ?? {}, NETWORK);
}

/** Lists all networks, because compose leaves out the default one if any is listed. */
function overrideText({ service, networks }: Override): string {
  const lines = [
    OVERRIDE_MARK,
    "# so that this service stays on the embedding sidecar's network when compose recreates it. --uninstall deletes it.",
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

async function deleteOurs(file: string): Promise<void> {
  const text = await readFile(file, "utf8").catch(() => "");
  if (text.startsWith(OVERRIDE_MARK)) await unlink(file);
}
