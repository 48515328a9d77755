/** The stand-in runs as a process, also bundled in a single file. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createOllamaSidecar } from "../../sidecar/ollama.ts";
import { failureOf, MODEL } from "./rig.ts";

const run = promisify(execFile);
const SOURCE = fileURLToPath(new URL("./stand-in-ollama.ts", import.meta.url));

describe("as a process, bundled, in a folder of its own", () => {
  let folder: string;
  let bundle: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "helmdeck-stand-in-"));
    bundle = join(folder, "ollama.mjs");
    await build({ entryPoints: [SOURCE], outfile: bundle, bundle: true, format: "esm", platform: "node" });
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  async function serve(
    ...args: string[]
  ): Promise<{ readonly process: ChildProcess; readonly address: string }> {
    const process_ = spawn(process.execPath, [bundle, "serve", "--port", "0", ...args], {
      cwd: folder,
      stdio: ["ignore", "pipe", "inherit"],
    });
    for await (const address of createInterface({ input: process_.stdout }))
      return { process: process_, address };
    throw new Error("The stand-in ended at once.");
  }

  async function stop(child: ChildProcess): Promise<number | null> {
    const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
    child.kill("SIGTERM");
    return ended;
  }

  it("keeps pulled models, fails on request, and ends at SIGTERM", async () => {
    const modelsFile = join(folder, "models.json");
    const first = await serve("--models-file", modelsFile);
    const sidecar = createOllamaSidecar({ address: first.address });
    await sidecar.pull(MODEL, () => {});
    const fault = { method: "PUT", body: JSON.stringify({ kind: "status", status: 500 }) };
    await fetch(`${first.address}/stand-in/fault`, fault);
    expect((await failureOf(sidecar.models())).code).toBe("embeddings_unavailable");
    await fetch(`${first.address}/stand-in/fault`, { method: "PUT", body: "null" });
    expect(await sidecar.hasModel(MODEL)).toBe(true);
    expect(await stop(first.process)).toBe(0);
    const second = await serve("--models-file", modelsFile);
    expect(await createOllamaSidecar({ address: second.address }).hasModel(MODEL)).toBe(true);
    expect(await stop(second.process)).toBe(0);
  });

  it("has the commands that a health check and an init container use", async () => {
    const { process: server, address } = await serve();
    const env = { ...process.env, OLLAMA_HOST: new URL(address).host };
    await run(process.execPath, [bundle, "pull", MODEL], { env });
    expect((await run(process.execPath, [bundle, "list"], { env })).stdout).toContain(`${MODEL}:latest`);
    await expect(run(process.execPath, [bundle, "pull", "no-such-model"], { env })).rejects.toThrow();
    await stop(server);
    await expect(run(process.execPath, [bundle, "list"], { env })).rejects.toThrow();
  });
});
