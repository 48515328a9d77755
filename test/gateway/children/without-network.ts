/**
 * Installs memory with install.sh, stores a fact, and asks memory_search for it in other words: run where there is no network but
 * loopback, and no Docker. Prints what it saw as JSON. Argument: the package's folder.
 */
import { execFile } from "node:child_process";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { OpenClawHost } from "../../../scripts/openclaw-host/openclaw-host.ts";
import { pathWithOpenClaw } from "../../docker/package.ts";

const FACT = {
  key: "deployment",
  value: "I always deploy via Konflux: merge to main, promote the next morning.",
};
/** Shares no word, stem or synonym with the fact. */
const QUESTION = "how do we get new versions into production";
const FOUND_WITHIN_MS = 60_000;

const [folder = ""] = process.argv.slice(2);
const host = await OpenClawHost.make({ config: { memory: null } });
try {
  const PATH = pathWithOpenClaw(join(host.home.root, "bin"));
  const env = { ...host.home.env, PATH, DOCKER_HOST: "unix:///nowhere", OLLAMA_HOST: "127.0.0.1:9" };
  const install = async () => {
    const began = performance.now();
    const script = join(folder, "install", "install.sh");
    const { stdout } = await promisify(execFile)("sh", [script, "--yes", "--json"], { env }).catch(
      (error: { readonly stdout: string }) => error,
    );
    return { ms: Math.round(performance.now() - began), ...JSON.parse(stdout) };
  };
  const installed = await install();
  await host.startGateway();
  const stored = await host.invokeTool("helmdeck__memory_store", FACT);
  const since = performance.now();
  let answer = await host.invokeTool("memory_search", { query: QUESTION });
  // The gateway embeds in the background.
  while (!answer.text.includes("Konflux") && performance.now() - since < FOUND_WITHIN_MS) {
    await pause(200);
    answer = await host.invokeTool("memory_search", { query: QUESTION });
  }
  const foundAfterMs = Math.round(performance.now() - since);
  const warm = await host.invokeTool("memory_search", { query: QUESTION });
  const status = await host.openclaw(["helmdeck", "status", "--json"]);
  console.log(
    JSON.stringify({
      networks: Object.keys(networkInterfaces()),
      ...{ installed, stored: stored.ok, foundAfterMs, warmMs: Math.round(warm.ms), answer: answer.text },
      status: JSON.parse(status.stdout),
    }),
  );
} finally {
  await host.stop();
}
