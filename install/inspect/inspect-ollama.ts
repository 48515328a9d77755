/** Finds the operator's own Ollama on this machine: at OLLAMA_HOST, or on Ollama's default port. Never contacts another machine. */
import type { Environment } from "../environment.ts";
import { IMAGE_PORT } from "../install-names.ts";

/** Its address; undefined if none answers. */
export async function findOllama({
  env,
  sidecarAt,
}: Pick<Environment, "env" | "sidecarAt">): Promise<string | undefined> {
  const url = loopbackUrl(env.OLLAMA_HOST?.trim() || "127.0.0.1");
  return url !== undefined && (await sidecarAt(url).health()).ok ? url : undefined;
}

/** Parses the variable like Ollama does; a server that listens on all addresses is reached on loopback. */
function loopbackUrl(host: string): string | undefined {
  const text = /^https?:\/\//.test(host) ? host : `http://${host.replace(/^(?=:\d)/, "127.0.0.1")}`;
  if (!URL.canParse(text)) return undefined;
  const { protocol, hostname, port } = new URL(text);
  const address = /^(0\.0\.0\.0|\[::\])$/.test(hostname) ? "127.0.0.1" : hostname;
  const isHere = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(address);
  return isHere && protocol === "http:" ? `http://${address}:${port || IMAGE_PORT}` : undefined;
}
