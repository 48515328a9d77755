/**
 * The scripts of the compose file, run by bash with a stand-in for Ollama. The one-shot service checks for the model, downloads it, tries
 * it, and reports why if that fails. The health check succeeds only if the model embeds.
 */
import { execFile, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { type StandInOllama, startStandInOllama } from "../sidecar/stand-in-ollama.ts";
import { testFolder } from "./fixtures.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const MODEL = "nomic-embed-text";
const STAND_IN = join(ROOT, "test", "sidecar", "stand-in-ollama.ts");

let folder: string;
let ollama: StandInOllama;

beforeEach(async () => {
  folder = testFolder();
  writeFileSync(join(folder, "ollama"), `#!/bin/sh\nexec "${process.execPath}" "${STAND_IN}" "$@"\n`, {
    mode: 0o755,
  });
});
afterEach(async () => {
  await ollama.close();
});

describe.skipIf(spawnSync("bash", ["-c", ":"]).status !== 0)("compose's one-shot helper", () => {
  it("downloads a missing model and checks that it embeds", async () => {
    ollama = await startStandInOllama();
    expect(await init()).toEqual({ code: 0, said: expect.stringContaining(`${MODEL} embeds.`) });
    expect(pulls()).toHaveLength(1);
  });

  it("downloads nothing if the model exists, so that a restart needs no network", async () => {
    ollama = await startStandInOllama({ models: [MODEL] });
    ollama.setFault({ kind: "status", status: 500, error: "dial tcp: no such host", path: "/api/pull" });
    expect(await init()).toEqual({
      code: 0,
      said: expect.stringContaining(`${MODEL} is already downloaded.`),
    });
    expect(pulls()).toEqual([]);
  });

  it("fails if a missing model cannot be downloaded", async () => {
    ollama = await startStandInOllama();
    expect((await init("no-such-model")).code).toBe(1);
  });

  it.each([
    "llama runner process has terminated: signal: killed",
    "model requires more system memory (1.2 GiB) than is available (0.9 GiB)",
  ])("reports too little memory: %s", async (error) => {
    ollama = await startStandInOllama({ models: [MODEL] });
    ollama.setFault({ kind: "status", status: 500, error, path: "/api/embed" });
    expect(await init()).toEqual({
      code: 1,
      said: expect.stringMatching(/too little memory.*HELMDECK_EMBEDDINGS_MEMORY=/),
    });
  });

  it("shows the beginning of any other answer", async () => {
    ollama = await startStandInOllama({ models: [MODEL] });
    ollama.setFault({ kind: "status", status: 500, error: "something else", path: "/api/embed" });
    expect(await init()).toEqual({
      code: 1,
      said: expect.stringMatching(/begins: HTTP\/1\.1 500.*something else/s),
    });
  });

  it("refuses a model name with shell characters", async () => {
    ollama = await startStandInOllama();
    expect(await init('m"; touch /tmp/x')).toEqual({
      code: 1,
      said: expect.stringContaining("contains a character"),
    });
    expect(ollama.requests).toEqual([]);
  });
});

describe.skipIf(spawnSync("bash", ["-c", ":"]).status !== 0)("the sidecar's health check", () => {
  it("succeeds if the model embeds", async () => {
    ollama = await startStandInOllama({ models: [MODEL] });
    expect(await health()).toBe(0);
    expect(ollama.requests).toMatchObject([{ path: "/api/embed", body: { model: MODEL } }]);
  });

  it("fails without the model", async () => {
    ollama = await startStandInOllama();
    expect(await health()).toBe(1);
  });

  it("fails if the service lists the model but has too little memory for it", async () => {
    ollama = await startStandInOllama({ models: [MODEL] });
    const error = "llama runner process has terminated: signal: killed";
    ollama.setFault({ kind: "status", status: 500, error, path: "/api/embed" });
    expect(await health()).toBe(1);
  });
});

const pulls = () => ollama.requests.filter(({ path }) => path === "/api/pull");

/** As compose passes them to bash, but with another address of the service. */
function scripts(): { readonly init: string; readonly health: string } {
  const { services } = parse(readFileSync(join(ROOT, "compose.embeddings.yml"), "utf8"), { merge: true });
  const { hostname, port } = new URL(ollama.address);
  const asRun = (text: string) =>
    text.replaceAll("$$", "$").replace(/\/dev\/tcp\/[\w.-]+\/11434/, `/dev/tcp/${hostname}/${port}`);
  return {
    init: asRun(services["helmdeck-embeddings-init"].command[0]),
    health: asRun(services["helmdeck-embeddings"].healthcheck.test.at(-1)),
  };
}

async function init(model = MODEL): Promise<{ readonly code: number; readonly said: string }> {
  return bash(["-euo", "pipefail", "-c", scripts().init], model);
}

async function health(): Promise<number> {
  return (await bash(["-euc", scripts().health], MODEL)).code;
}

function bash(
  args: readonly string[],
  model: string,
): Promise<{ readonly code: number; readonly said: string }> {
  const env = {
    PATH: [folder, process.env.PATH].join(delimiter),
    HOME: folder,
    OLLAMA_HOST: ollama.address,
    EMBEDDING_MODEL: model,
  };
  return new Promise((resolve) => {
    execFile("bash", [...args], { env }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === "number" ? error.code : error ? 1 : 0, said: stdout + stderr }),
    );
  });
}
