/**
 * Uses compose.embeddings.yml as its first lines describe: the sidecar starts, and -init downloads the model into its volume and checks
 * that it can embed, or reports why it cannot.
 *
 * Budget: one minute on two idle cores.
 */
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { Engine } from "./engine.ts";
import { makeOllamaImage } from "./images.ts";
import { docker, engineMissing, run, startEngine, stopEngine } from "./rig.ts";

const SIDECAR = "helmdeck-embeddings";
const MODEL = "nomic-embed-text";

let env: Readonly<Record<string, string>>;

beforeAll(async () => {
  if (engineMissing() !== undefined) return;
  env = { PATH: process.env.PATH ?? "", ...(await startEngine(makeOllamaImage)) };
  await docker("network", "create", "baas-net");
});
afterAll(stopEngine);

describe.skipIf(engineMissing() !== undefined)("the sidecar, started by hand", () => {
  it("-init waits until it answers, downloads the model, and then it is healthy", async () => {
    expect((await compose({}, "up", "-d")).code).toBe(0);
    const once = await docker("ps", "-aq", "-f", `label=com.docker.compose.service=${SIDECAR}-init`);
    expect(await docker("wait", once)).toBe("0");
    expect(await docker("logs", once)).toContain(`${MODEL} embeds.`);
    expect(await docker("exec", SIDECAR, "ollama", "list")).toContain(`${MODEL}:latest`);
    await expect.poll(() => docker("inspect", "-f", "{{.State.Health.Status}}", SIDECAR)).toBe("healthy");
  });

  it.each<[string, Readonly<Record<string, string>>, RegExp]>([
    ["a model that does not exist", { EMBEDDING_MODEL: "no-such-model" }, /does not exist/],
    ["a model name with a shell command", { EMBEDDING_MODEL: 'm"; touch /tmp/x' }, /contains a character/],
  ])("-init fails for %s", async (_, variables, reason) => {
    const { code, said } = await init(variables);
    expect([code, said]).toEqual([1, expect.stringMatching(reason)]);
  });

  it("restarts without a network: the model is in its volume, and -init downloads nothing", async () => {
    expect((await compose({}, "down")).code).toBe(0);
    expect((await compose({}, "up", "-d", SIDECAR)).code).toBe(0);
    await expect.poll(() => docker("inspect", "-f", "{{.State.Health.Status}}", SIDECAR)).toBe("healthy");
    await setFault({ kind: "status", status: 500, error: "dial tcp: no such host", path: "/api/pull" });
    expect(await init({})).toMatchObject({ code: 0, said: expect.stringContaining("is already downloaded") });
    await setFault(null);
  });

  it("-init reports too little memory", async () => {
    const error = "llama runner process has terminated: signal: killed";
    await setFault({ kind: "status", status: 500, error, path: "/api/embed" });
    const { code, said } = await init({});
    await setFault(null);
    expect([code, said]).toEqual([1, expect.stringContaining("HELMDECK_EMBEDDINGS_MEMORY")]);
  });

  it("-init and the health check fail for a service that lists the model but does not embed", async () => {
    await setFault({ kind: "status", status: 500, path: "/api/embed" });
    const { code, said } = await init({});
    const checks = "{{range .State.Health.Log}}{{.ExitCode}} {{end}}";
    await expect.poll(() => docker("inspect", "-f", checks, SIDECAR)).toMatch(/1 ?$/);
    await setFault(null);
    expect([code, said]).toEqual([
      1,
      expect.stringContaining(`${MODEL} does not embed; the answer begins: HTTP/1.1 500`),
    ]);
    expect((await init({})).code).toBe(0);
  });
});

async function init(variables: Readonly<Record<string, string>>) {
  const { code, stdout, stderr } = await compose(variables, "run", "--rm", "--no-deps", `${SIDECAR}-init`);
  return { code, said: stdout + stderr };
}

function compose(variables: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const files = ["-p", SIDECAR, "-f", "compose.embeddings.yml"];
  const [program, ...first] = Engine.compose;
  return run(program, [...first, ...files, ...args], { ...env, ...variables }, inject("packageRoot"));
}

/** Runs inside the container, because no port is published. */
async function setFault(fault: unknown): Promise<void> {
  const ask = `fetch("http://127.0.0.1:11434/stand-in/fault", { method: "PUT", body: process.argv[1] })`;
  await docker("exec", SIDECAR, "/usr/local/bin/node", "-e", ask, JSON.stringify(fault));
}
