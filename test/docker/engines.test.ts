/**
 * Uses the profile `engines` of compose.engine.yml as its first lines describe: it creates the tables, two engines serve one memory, and
 * nothing else can reach the database. The images are made on this machine (images.ts), not the official PostgreSQL.
 *
 * Budget: a minute and a half on two idle cores.
 */
import { randomBytes } from "node:crypto";
import { chmodSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROOT } from "../../scripts/build/build.ts";
import { whyWithoutPostgres } from "../postgres/server.ts";
import { Engine } from "./engine.ts";
import { makeMemoryImage, makePostgresImage, POSTGRES_IMAGE } from "./images.ts";
import { docker, engineMissing, run, startEngine, stopEngine } from "./rig.ts";

const missing = engineMissing() ?? whyWithoutPostgres();
const SECRETS = [
  ...["helmdeck-memory.key", "helmdeck-jwt.secret"],
  ...["helmdeck-postgres.password", "helmdeck-engine.password"],
];

let env: Readonly<Record<string, string>>;
let secrets: string;

beforeAll(async () => {
  if (missing !== undefined) return;
  secrets = mkdtempSync(join(realpathSync(tmpdir()), "hd-secrets-"));
  for (const name of SECRETS) {
    writeFileSync(join(secrets, name), `${randomBytes(32).toString("hex")}\n`);
    chmodSync(join(secrets, name), 0o644); // readable for the accounts in the containers
  }
  env = {
    ...{ PATH: process.env.PATH ?? "", HELMDECK_SECRETS: secrets, HELMDECK_POSTGRES_IMAGE: POSTGRES_IMAGE },
    ...(await startEngine(makeMemoryImage, makePostgresImage)),
  };
  await docker("network", "create", "baas-net");
});
afterAll(async () => {
  await stopEngine();
  if (secrets !== undefined) rmSync(secrets, { recursive: true, force: true });
});

describe.skipIf(missing !== undefined)("the profile engines, started by hand", () => {
  it("creates the tables, and can be repeated", async () => {
    for (const _ of ["first", "again"]) {
      const { code, stdout, stderr } = await compose("run", "--rm", "helmdeck-prepare");
      expect([code, `${stdout}${stderr}`]).toEqual([
        0,
        expect.stringContaining("helmdeck_engine can use them"),
      ]);
    }
  });

  it("serves one memory through two stateless engines", async () => {
    const up = await compose("up", "-d", "helmdeck-engine-1", "helmdeck-engine-2");
    expect([up.code, up.stderr]).toEqual([0, expect.anything()]);
    const token = await docker(
      ...inEngine("1", "/app/dist/helmdeck-memory.mjs", "token", "--subject", "main"),
    );
    const ask = (from: string, url: string, body?: object) =>
      docker(...inEngine(from, "-e", ASK, url, token, JSON.stringify(body ?? null)));
    for (const name of ["helmdeck-engine-1", "helmdeck-engine-2"])
      await expect.poll(() => ask("1", `http://${name}:3848/readyz`).catch(String)).toContain('"ready"');
    const facts = "api/v1/memory/facts/tea";
    const stored = { key: "tea", value: "oolong" };
    await ask("2", "http://helmdeck-engine-1:3848/api/v1/memory/store", stored);
    for (const name of ["helmdeck-engine-2", "helmdeck-engines"])
      expect(await ask("1", `http://${name}:3848/${facts}`)).toContain("oolong");
    expect(await docker("exec", "helmdeck-engine-1", "/bin/find", "/data", "-type", "f")).toBe("");
  });

  it("is healthy only while memory works", async () => {
    const health = () => docker("inspect", "-f", "{{.State.Health.Status}}", "helmdeck-engine-1");
    await expect.poll(health).toBe("healthy");
    await docker("stop", "helmdeck-postgres");
    await expect.poll(health).toBe("unhealthy");
    const isUp = "fetch('http://127.0.0.1:3848/healthz').then(({ status }) => console.log(status))";
    expect(await docker(...inEngine("1", "-e", isUp))).toBe("200");
    await docker("start", "helmdeck-postgres");
    await expect.poll(health).toBe("healthy");
  });

  it("keeps the database on a separate network without a port, and its data after the container is removed", async () => {
    expect(await docker("port", "helmdeck-postgres")).toBe("");
    const networks = "{{range $name, $_ := .NetworkSettings.Networks}}{{$name}} {{end}}";
    expect(await docker("inspect", "-f", networks, "helmdeck-postgres")).toBe(
      "helmdeck-memory_helmdeck-store",
    );
    const again = await compose("up", "-d", "--force-recreate", "helmdeck-postgres", "helmdeck-engine-1");
    expect([again.code, again.stderr]).toEqual([0, expect.anything()]);
    const get = ["/app/dist/helmdeck-memory.mjs", "get", "tea", "--caller", "main"];
    await expect.poll(() => docker(...inEngine("1", ...get)).catch(String)).toBe("oolong");
  });
});

/** Prints the answer, and fails unless it is a success. */
const ASK = `
const [url, token, body] = process.argv.slice(1);
const headers = { authorization: "Bearer " + token, "content-type": "application/json" };
const answer = await fetch(url, { headers, ...(body !== "null" && { method: "POST", body }) });
console.log(await answer.text());
process.exitCode = answer.ok ? 0 : 1;
`;

function inEngine(number: string, ...args: readonly string[]): readonly string[] {
  return ["exec", `helmdeck-engine-${number}`, "node", ...args];
}

function compose(...args: readonly string[]) {
  const files = ["-p", "helmdeck-memory", "-f", "compose.engine.yml", "--profile", "engines"];
  const [program, ...first] = Engine.compose;
  return run(program, [...first, ...files, ...args], env, ROOT);
}
