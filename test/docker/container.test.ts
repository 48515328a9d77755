/**
 * install.sh with OpenClaw in a container that compose manages: installation, smoke test, a re-created container that is still on the
 * network, and uninstallation.
 *
 * Budget: six minutes beside the other tests on two cores.
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sized } from "../run/size.ts";
import { makeOllamaImage, makeOpenClawImage, OPENCLAW_IMAGE, openClawMounts } from "./images.ts";
import { docker, engineMissing, installer, run, startEngine, stopEngine } from "./rig.ts";

const NAME = "openclaw-gateway";
const READY_WITHIN_MS = 180_000;
const TOKEN = "a-token-of-the-containers-own-0123456789";

let folder: string;
let env: Record<string, string>;

beforeAll(async () => {
  if (engineMissing() !== undefined) return;
  folder = realpathSync(mkdtempSync(join(tmpdir(), "hd-claw-")));
  env = {
    PATH: pathWithoutOpenClaw(),
    HOME: join(folder, "home"),
    LANG: "C.UTF-8",
    npm_config_update_notifier: "false",
    ...(await startEngine(makeOllamaImage, makeOpenClawImage)),
  };
  for (const name of ["home", "state", "project"]) mkdirSync(join(folder, name));
  writeFileSync(join(folder, "state", "openclaw.json"), JSON.stringify(config()));
  mkdirSync(join(folder, "state", "workspace"));
  writeFileSync(join(folder, "state", "workspace", "MEMORY.md"), "# Notes\n\nKonflux builds our images.\n");
  writeFileSync(join(folder, "project", "docker-compose.yml"), composeFile());
  await compose("up", "-d");
  await untilReady();
});

afterAll(async () => {
  await stopEngine();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

describe.skipIf(engineMissing() !== undefined)("install.sh with OpenClaw in a container", () => {
  const override = () => join(folder, "project", "docker-compose.override.yml");

  it("detects it, attaches it, and tests it from inside", async () => {
    const { code, report } = await installer(env, "--yes");
    expect(report.missing).toEqual([]);
    expect(report.steps.at(-1)?.error).toBeUndefined();
    expect(code).toBe(0);
    expect(report.steps.map(({ step }) => step)).toEqual(report.plan);
    expect(report.plan.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(["attach-container", "check-from-container", "point-search", "prove"]),
    );
    const facts = report.plan.find(({ kind }) => kind === "point-facts");
    expect(facts).toMatchObject({ url: "http://helmdeck-embeddings:11434" });
    expect(report.steps.at(-1)?.remark).toContain("in other words");
    expect(await networks()).toEqual(["baas-net", "claw_default"]);
    expect(await docker("port", "helmdeck-embeddings")).toBe("");
  });

  it("is still on the network when compose re-creates the container, and a second run changes nothing", async () => {
    const before = await docker("inspect", "-f", "{{.Id}}", NAME);
    await compose("up", "-d", "--force-recreate");
    await untilReady();
    expect(await docker("inspect", "-f", "{{.Id}}", NAME)).not.toBe(before);
    expect(await networks()).toEqual(["baas-net", "claw_default"]);
    const { code, report } = await installer(env, "--yes");
    expect(report.steps.at(-1)?.error).toBeUndefined();
    expect(code).toBe(0);
    expect(report.plan.map(({ kind }) => kind)).toEqual(["check-embedding", "check-from-container", "prove"]);
  });

  // Most of its two minutes are OpenClaw's own commands.
  it.runIf(sized(false, true))(
    "replaces the sidecar by the built-in model, in the container's own state folder",
    async () => {
      const { code, report } = await installer(env, "--yes", "--embeddings", "builtin");
      expect(report.steps.at(-1)?.error).toBeUndefined();
      expect(code).toBe(0);
      expect(report.plan.map(({ kind }) => kind)).toEqual(
        expect.arrayContaining(["install-model", "point-facts", "restore-search", "stop-sidecar", "prove"]),
      );
      expect(report.steps.find(({ step }) => step.kind === "index-notes")?.remark).toMatch(/^1 note; /);
      expect(report.steps.at(-1)?.remark).toContain("in other words");
      expect(readdirSync(join(folder, "state", "helmdeck-memory-model"))).toHaveLength(1);
      const again = await installer(env, "--yes", "--dry-run");
      expect(again.report.plan.map(({ kind }) => kind)).toEqual(["prove"]);
    },
  );

  it("--uninstall detaches it and restores its configuration", async () => {
    const { code, report } = await installer(env, "--uninstall", "--yes");
    expect(report.steps.at(-1)?.error).toBeUndefined();
    expect(code).toBe(0);
    // There, OpenClaw cannot restart its gateway.
    expect(report.warnings.join()).not.toContain("openclaw gateway restart");
    expect(existsSync(override())).toBe(false);
    expect(await networks()).toEqual(["claw_default"]);
    const { stdout } = await run("cat", [join(folder, "state", "openclaw.json")], env);
    const { meta: _, ...now } = JSON.parse(stdout);
    expect(now).toEqual(config());
    expect(existsSync(join(folder, "state", "helmdeck-memory-model"))).toBe(false);
    expect(await docker("ps", "--format", "{{.Names}}")).toBe(NAME);
  });

  it("and OpenClaw finds a note written afterwards", async () => {
    const notes = join(folder, "state", "workspace", "memory");
    mkdirSync(notes, { recursive: true });
    // Written before the indexing. `openclaw memory search` finds a new note only at the second search, because the first starts the indexing.
    writeFileSync(join(notes, "2026-11-21.md"), "# Day\n\nThe zanzibar harbour opens at nine.\n");
    const index = await run("docker", ["exec", NAME, "openclaw", "memory", "index"], env);
    expect([index.code, index.stderr]).toEqual([0, expect.not.stringContaining("failed")]);
    const search = ["exec", NAME, "openclaw", "memory", "search", "zanzibar harbour", "--json"];
    expect((await run("docker", search, env)).stdout).toContain("opens at nine");
  });
});

/** Removes the repository's own openclaw, which npm adds to the path. On this machine, OpenClaw is only in a container. */
function pathWithoutOpenClaw(): string {
  const folders = [dirname(process.execPath), ...(process.env.PATH ?? "").split(delimiter)];
  return folders.filter((name) => !existsSync(join(name, "openclaw"))).join(delimiter);
}

function config() {
  return {
    gateway: { mode: "local", bind: "loopback", auth: { mode: "token" } },
    agents: { defaults: { workspace: "/root/.openclaw/workspace", heartbeat: { every: "0m" } } },
    plugins: { allow: ["memory-core"] },
    cron: { enabled: false },
    update: { checkOnStart: false },
    models: { catalogRefresh: { enabled: false } },
  };
}

/** A typical compose file for OpenClaw. As in OpenClaw's own setup, the token is in the container's environment. */
function composeFile(): string {
  const volumes = [...openClawMounts(), `${join(folder, "state")}:/root/.openclaw`];
  const environment = {
    OPENCLAW_GATEWAY_TOKEN: TOKEN,
    OPENCLAW_NO_AUTO_UPDATE: "1",
    OPENCLAW_OFFLINE: "1",
    OPENCLAW_DISABLE_BONJOUR: "1",
    OPENCLAW_NO_RESPAWN: "1",
    npm_config_offline: "true",
    npm_config_update_notifier: "false",
  };
  const service = {
    image: OPENCLAW_IMAGE,
    container_name: NAME,
    init: true,
    // A gateway that is killed leaves a lease. The next gateway takes it over only if it has the same name.
    hostname: "openclaw",
    restart: "unless-stopped",
    stop_grace_period: "60s",
    command: ["gateway", "run"],
    volumes,
    environment,
  };
  // Every JSON text is valid YAML.
  return JSON.stringify({ services: { [NAME]: service } }, null, 2);
}

async function compose(...args: readonly string[]): Promise<void> {
  const { code, stderr } = await run("docker-compose", ["-p", "claw", ...args], env, join(folder, "project"));
  if (code !== 0) throw new Error(`docker-compose ${args.join(" ")}: ${stderr}`);
}

async function networks(): Promise<readonly string[]> {
  const [container] = JSON.parse(await docker("inspect", NAME));
  return Object.keys(container.NetworkSettings.Networks).sort();
}

async function untilReady(): Promise<void> {
  const deadline = Date.now() + READY_WITHIN_MS;
  const ask =
    'fetch("http://127.0.0.1:18789/readyz").then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))';
  while ((await run("docker", ["exec", NAME, "node", "-e", ask], env)).code !== 0) {
    if (Date.now() > deadline) {
      const { stdout, stderr } = await run("docker", ["logs", "--tail", "30", NAME], env);
      throw new Error(`The gateway in the container is not ready:\n${stdout}${stderr}`);
    }
    await pause(500);
  }
}
