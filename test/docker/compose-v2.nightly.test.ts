/**
 * Runs the Docker tests again with `docker compose` v2, which Debian does not package. If Go is available, it is built from its Go module
 * and added to the plugin folder of the tests' own client.
 *
 * Budget: six minutes for the build on two idle cores, twenty for the tests.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROOT } from "../../scripts/build/build.ts";
import { whyNoEngine } from "./engine.ts";
import { run } from "./rig.ts";

const VERSION = "v2.40.3";
const MODULE = "github.com/docker/compose/v2";
const BUILD_TIMEOUT_MS = 1_800_000;
const TESTS_TIMEOUT_MS = 3_600_000;

const hasGo = spawnSync("go", ["version"]).status === 0;
const missing = hasGo ? await whyNoEngine() : "Go is not installed";
if (missing !== undefined) console.warn(`docker compose v2 is left out: ${missing}.`);

let folder: string;
let compose: string;

beforeAll(async () => {
  if (missing !== undefined) return;
  folder = mkdtempSync(join(realpathSync(tmpdir()), "hd-compose-"));
  compose = join(folder, "docker-compose");
  // A separate module requires it, because Go cannot install a module with replacements by its name.
  writeFileSync(join(folder, "go.mod"), "module compose\n");
  writeFileSync(
    join(folder, "main.go"),
    `package main\n\nimport _ "${MODULE}/cmd/compose"\n\nfunc main() {}\n`,
  );
  await go("get", `${MODULE}/cmd@${VERSION}`);
  await go(
    "build",
    "-ldflags",
    `-s -w -X ${MODULE}/internal.Version=${VERSION}`,
    "-o",
    compose,
    `${MODULE}/cmd`,
  );
}, BUILD_TIMEOUT_MS);
afterAll(() => {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

const env = () => ({ ...process.env }) as Record<string, string>; // variables in the environment are never undefined

async function go(...args: readonly string[]): Promise<void> {
  const { code, stderr } = await run("go", args, env(), folder);
  if (code !== 0) throw new Error(`go ${args[0]} ended with ${code}:\n${stderr.slice(-2_000)}`);
}

describe.skipIf(missing !== undefined)("docker compose v2", () => {
  it(
    "starts the sidecar, installs and uninstalls, like docker-compose v1",
    async () => {
      const plugins = join(folder, "client", "cli-plugins");
      mkdirSync(plugins, { recursive: true });
      symlinkSync(compose, join(plugins, "docker-compose"));
      const client = { ...env(), DOCKER_CONFIG: join(folder, "client") };
      const { stdout: version } = await run("docker", ["compose", "version", "--short"], client);
      expect(version.trim()).toBe(VERSION.slice(1));
      const vitest = join(ROOT, "node_modules", ".bin", "vitest");
      const withV2 = { ...env(), HELMDECK_TEST_COMPOSE_V2: compose, HELMDECK_REQUIRE_DOCKER: "1" };
      const { code, stdout } = await run(vitest, ["run", "--project", "docker"], withV2, ROOT);
      expect([code, stdout.slice(-6_000)]).toEqual([0, expect.anything()]);
    },
    TESTS_TIMEOUT_MS,
  );
});
