/**
 * Without Docker and without any network but loopback: install.sh installs the built-in model, and OpenClaw's memory_search finds a
 * stored fact by a question in other words.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { makePackage } from "../docker/package.ts";

const CHILD = fileURLToPath(new URL("children/without-network.ts", import.meta.url));
/** One run of install.sh with its own gateway, and a second gateway. */
const TIMEOUT_MS = 480_000;
/** A network namespace needs the administrator's rights. */
const canUnshare = spawnSync("unshare", ["-n", "ip", "link", "set", "lo", "up"]).status === 0;

let folder: string;
beforeAll(async () => {
  folder = await makePackage();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it.skipIf(!canUnshare)(
  "a fresh installation finds a fact by its meaning (needs root, for a network namespace)",
  () => {
    const script = 'ip link set lo up && exec "$0" "$@"';
    const args = ["-n", "sh", "-c", script, process.execPath, CHILD, folder];
    const seen = JSON.parse(
      execFileSync("unshare", args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }),
    );
    expect(seen.networks).toEqual(["lo"]);
    const { exitCode, plan, steps } = seen.installed;
    expect([exitCode, steps.at(-1)?.error]).toEqual([0, undefined]);
    expect(plan.map(({ kind }: { readonly kind: string }) => kind)).toEqual([
      ...["make-key", "back-up-config", "install-plugin", "install-model", "point-facts", "keep-a-year"],
      "prove",
    ]);
    expect(steps.at(-1).remark).toContain("in other words");
    expect(seen.stored).toBe(true);
    expect(seen.answer).toContain("helmdeck/user_facts/deployment.md");
    expect(seen.status.embeddings).toMatchObject({ provider: "builtin", embedded: 1, waiting: 0 });
    console.log(
      `Installed and tested in ${seen.installed.ms} ms; found ${seen.foundAfterMs} ms after it was stored, then in ${seen.warmMs} ms.`,
    );
  },
  TIMEOUT_MS,
);
