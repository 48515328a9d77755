/**
 * A stand-in for Ollama, for tests. It implements the part of Ollama's API that this project uses, with the same error bodies
 * but without a model (stand-in/meaning.ts). api-description.test.ts checks its answers against Ollama's own API description.
 * It runs with Node alone:
 *
 *     node test/sidecar/stand-in-ollama.ts [serve] [--port 0] [--host 127.0.0.1] [--model NAME]… [--models-file FILE]
 *     node test/sidecar/stand-in-ollama.ts list | pull NAME        (asks the server at OLLAMA_HOST, like the real command)
 *
 * `serve` prints its address in the first line. The routes under /stand-in/ are not part of Ollama's API: `PUT /stand-in/fault`
 * makes the next answers fail (the body is a `Fault`; null removes it), and `GET /stand-in/requests` lists the requests.
 */
import { parseArgs } from "node:util";
import { startStandInOllama } from "./stand-in/server.ts";

export type { Fault } from "./stand-in/faults.ts";
export {
  type SeenRequest,
  STAND_IN_VERSION,
  type StandInOllama,
  type StandInOptions,
  startStandInOllama,
} from "./stand-in/server.ts";

const DEFAULT_ADDRESS = "127.0.0.1:11434";

async function main(args: readonly string[]): Promise<number> {
  const [command = "serve", ...names] = positionalsOf(args);
  if (command === "serve") return serve(args);
  const host = process.env.OLLAMA_HOST ?? DEFAULT_ADDRESS;
  const address = `http://${host.replace(/^https?:\/\//, "").replace("0.0.0.0", "127.0.0.1")}`;
  if (command === "list") return list(address);
  if (command === "pull" && names[0] !== undefined) return pull(address, names[0]);
  console.error(`The stand-in for Ollama knows serve, list and pull NAME, not ${command}.`);
  return 1;
}

async function serve(args: readonly string[]): Promise<number> {
  const [envHost, envPort] = (process.env.OLLAMA_HOST ?? DEFAULT_ADDRESS).split(":");
  const { values } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  const modelsFile = values["models-file"];
  const standIn = await startStandInOllama({
    host: values.host ?? envHost ?? "127.0.0.1",
    port: Number(values.port ?? envPort ?? 11434),
    models: values.model ?? [],
    ...(modelsFile !== undefined && { modelsFile }),
  });
  console.log(standIn.address);
  await new Promise<void>((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => resolve());
  });
  await standIn.close();
  return 0;
}

async function list(address: string): Promise<number> {
  const response = await fetch(`${address}/api/tags`);
  // This program's own server sends the answer.
  const { models } = (await response.json()) as { models: readonly { name: string; digest: string }[] };
  console.log("NAME\tID");
  for (const { name, digest } of models) console.log(`${name}\t${digest.slice(0, 12)}`);
  return response.ok ? 0 : 1;
}

async function pull(address: string, model: string): Promise<number> {
  const response = await fetch(`${address}/api/pull`, { method: "POST", body: JSON.stringify({ model }) });
  const text = await response.text();
  console.log(text.trim());
  return text.includes('"success"') ? 0 : 1;
}

const OPTIONS = {
  port: { type: "string" },
  host: { type: "string" },
  model: { type: "string", multiple: true },
  "models-file": { type: "string" },
} as const;

function positionalsOf(args: readonly string[]): readonly string[] {
  return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true }).positionals;
}

if (import.meta.main) {
  process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    return 1;
  });
}
