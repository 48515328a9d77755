/** Checks helmdeck's facts: the gateway embeds them with the configured service, and a paraphrase finds one. */
import { HelmdeckError } from "../../engine/errors.ts";
import type { Environment } from "../environment.ts";
import { INSTALLER } from "../install-names.ts";
import { type EmbedsFacts, isSameModel } from "../installation-facts.ts";
import { at, type Json } from "../openclaw-json.ts";
import type { OpenClaw } from "../run-openclaw.ts";
import { isFound, type Marker, QUESTIONS } from "./marker.ts";
import { smokeTestFailed } from "./smoke-test-gateway.ts";

type Clock = Pick<Environment, "now" | "pause">;

/** The plugin is reloaded when its configuration changes; generous for a slow machine. */
const SETTLED_WITHIN_MS = 120_000;
/** Existing facts are embedded first. Upper limit while there is progress. */
const FOUND_WITHIN_MS = 600_000;
/** Limit without any progress, including the loading of a cold model. */
const STANDSTILL_MS = 60_000;
const LOOK_AGAIN_MS = 500;
const ON = `keyword search still works. Then: ${INSTALLER} --verify`;

/** Asks the gateway itself, which may still use its former settings. */
export async function waitUntilFactsUse(
  openclaw: OpenClaw,
  embeds: EmbedsFacts,
  { now, pause }: Clock,
): Promise<void> {
  const deadline = now() + SETTLED_WITHIN_MS;
  for (;;) {
    const status = await openclaw.helmdeckStatus();
    if (uses(at(status, "embeddings"), embeds)) return;
    if (now() > deadline) {
      throw new HelmdeckError(
        "embeddings_unavailable",
        `helmdeck's facts are not embedded by ${nameOf(embeds)}: ${stateIn(status)}. Restart the gateway (${openclaw.restartCommand}), then: ${INSTALLER} --verify`,
      );
    }
    await pause(LOOK_AGAIN_MS);
  }
}

/**
 * Embedding runs in the background without a notification; status shows the progress. Asks nothing before the marker can be
 * embedded, and nothing else first: OpenClaw 2026.8.1 serves plugins' memory only to the first search through `openclaw gateway call`.
 */
export async function waitUntilFoundByParaphrase(
  openclaw: OpenClaw,
  marker: Marker,
  embeds: EmbedsFacts,
  { now, pause }: Clock,
): Promise<void> {
  const deadline = now() + FOUND_WITHIN_MS;
  const progress = async () => progressIn(await openclaw.helmdeckStatus());
  let [seen, since] = [await progress(), now()];
  const before = seen.embedded;
  for (;;) {
    const canBeFound = seen.waiting === 0 || seen.embedded > before;
    if (canBeFound && (await isFound(openclaw, marker, QUESTIONS.paraphrased))) return;
    if (now() > deadline || now() - since > STANDSTILL_MS) break;
    await pause(LOOK_AGAIN_MS);
    const next = await progress();
    if (next.embedded !== seen.embedded) since = now();
    seen = next;
  }
  await requireFoundByWords(openclaw, marker);
  throw smokeTestFailed(whyNot(seen, embeds));
}

/** Throws the smoke test's failure otherwise. */
export async function requireFoundByWords(openclaw: OpenClaw, marker: Marker): Promise<void> {
  if (await isFound(openclaw, marker, QUESTIONS.verbatim)) return;
  throw smokeTestFailed(
    `OpenClaw's memory_search did not find a stored fact by its own words. See: openclaw helmdeck doctor; then: ${INSTALLER} --verify`,
  );
}

function nameOf(embeds: EmbedsFacts): string {
  return embeds.provider === "builtin" ? "the built-in model" : `${embeds.model} on ${embeds.url}`;
}

function uses(embeddings: Json | undefined, embeds: EmbedsFacts): boolean {
  const { provider } = embeds;
  if (provider === "builtin") return at(embeddings, "provider") === provider;
  const { url, model } = embeds;
  const [theirUrl, theirModel] = [at(embeddings, "url"), at(embeddings, "model")];
  return (
    at(embeddings, "provider") === provider &&
    typeof theirUrl === "string" &&
    theirUrl.replace(/\/+$/, "") === url &&
    typeof theirModel === "string" &&
    isSameModel(theirModel, model)
  );
}

function stateIn(status: Json | undefined): string {
  const embeddings = at(status, "embeddings");
  const provider = at(embeddings, "provider");
  const said = at(embeddings, "problem") ?? at(status, "error", "message");
  if (typeof said === "string") return said.replace(/\.$/, "");
  if (provider === "none") return "the gateway runs without embeddings";
  if (typeof provider !== "string") return "the gateway does not say what it uses";
  return `the gateway uses ${String(at(embeddings, "model"))} on ${String(at(embeddings, "url"))}`;
}

interface Progress {
  readonly embedded: number;
  readonly waiting: number;
  readonly failure: string | undefined;
}

function progressIn(status: Json | undefined): Progress {
  const count = (name: string) => Number(at(status, "embeddings", name) ?? 0);
  const failure = at(status, "embeddings", "failure");
  return {
    embedded: count("embedded"),
    waiting: count("waiting"),
    failure: typeof failure === "string" ? failure : undefined,
  };
}

function whyNot({ embedded, waiting, failure }: Progress, embeds: EmbedsFacts): string {
  const what = `memory_search did not find a stored fact in other words (${QUESTIONS.paraphrased})`;
  if (failure !== undefined)
    return `${what}: helmdeck gets no embeddings from ${nameOf(embeds)} (${failure}). See: openclaw helmdeck doctor; ${ON}`;
  if (waiting > 0)
    return `${what}: of ${embedded + waiting} entries, ${waiting} are not embedded yet. Wait a while; ${ON}`;
  return `${what}, although it is embedded: ${nameOf(embeds)} does not match their meanings. Use another model (--embedding-model with a service); ${ON}`;
}

/**
 * Checks the memory's source: the gateway uses the configured engine, and the engine accepts its token.
 *
 * Asks the gateway itself, which may still use its former settings. Does not wait for a failing engine.
 */
export async function waitUntilMemoryIsAt(
  openclaw: OpenClaw,
  url: string,
  { now, pause }: Pick<Environment, "now" | "pause">,
): Promise<void> {
  const deadline = now() + SETTLED_WITHIN_MS;
  for (;;) {
    const status = await openclaw.helmdeckStatus();
    const isThere = at(status, "engine", "url") === url;
    if (isThere && at(status, "state") === "ready") return;
    if (isThere || now() > deadline) {
      const reason = at(status, "error", "message") ?? "the gateway does not use it";
      throw new HelmdeckError(
        "engine_unavailable",
        `The memory of the engine at ${url} does not work: ${String(reason)} See: openclaw helmdeck doctor; then: ${INSTALLER} --verify`,
      );
    }
    await pause(LOOK_AGAIN_MS);
  }
}
