/**
 * GitHub's REST API for packs: pages, limits of time and size, and failures in our own words.
 *
 * Who attacks: a server, or something between, that answers without end, slowly, or with a next page on another host, where the
 * token would go. What stops them: each answer has a deadline and a size, and no request leaves the configured address. The
 * token stays in the request; no error carries the request, nor the text that GitHub answered, which could be anyone's.
 */
import { Octokit } from "@octokit/core";
import type * as z from "zod";
import { defined, HelmdeckError, invalidField, isHelmdeckError, type UnixMs } from "../../engine/index.ts";

export interface GitHubOptions {
  /** The operator's; absent: anonymous, with GitHub's low rate limit. */
  readonly token?: string;
  /** Of GitHub Enterprise: `https://<host>/api/v3`. Default `https://api.github.com`. */
  readonly baseUrl?: string;
  /** For one answer; default 20 s. */
  readonly requestTimeoutMs?: number;
}

export interface GitHubRun {
  readonly signal: AbortSignal;
  readonly now: () => UnixMs;
}

export interface GitHub {
  /** The data of each page, for as long as there is a next one. Throws our own errors only. */
  pages(route: string, parameters: Readonly<Record<string, unknown>>): AsyncIterable<unknown>;
  /** What the schema makes of it; throws `upstream_failed` when GitHub answered something else. */
  require<Data>(schema: z.ZodType<Data>, data: unknown): Data;
}

const GITHUB = "https://api.github.com";
const REQUEST_TIMEOUT_MS = 20_000;
/** A hundred issues with texts of the greatest length have about 25 MB. */
const ANSWER_BYTES = 32 * 1_024 * 1_024;
/** GitHub asks for at least a minute when it does not say how long. */
const SECONDARY_WAIT_SECONDS = 60;
const silent = { debug() {}, info() {}, warn() {}, error() {} };

export function openGitHub(options: GitHubOptions, run: GitHubRun): GitHub {
  const client = makeClient(options, run.signal);
  const headers = { "x-github-api-version": "2022-11-28" };
  const ask = async (...request: Parameters<typeof client.request>) => {
    try {
      return await client.request(...request);
    } catch (error) {
      throw run.signal.aborted ? run.signal.reason : failureOf(error, run.now());
    }
  };
  return {
    // By hand: Octokit's own paging takes an answer that broke off, and a 409, for an empty page, and drops the signal.
    async *pages(route, parameters) {
      let answer = await ask(route, { ...parameters, headers });
      yield answer.data;
      for (let next = nextOf(answer.headers.link); next !== undefined; next = nextOf(answer.headers.link)) {
        answer = await ask(`GET ${next}`, { headers });
        yield answer.data;
      }
    },
    require: (schema, data) => {
      const parsed = schema.safeParse(data);
      if (parsed.success) return parsed.data;
      throw new HelmdeckError("upstream_failed", "GitHub answered something that is not what its API says.");
    },
  };
}

/** Octokit logs to the console by default, which may be a protocol's channel. */
function makeClient(options: GitHubOptions, signal: AbortSignal): Octokit {
  const { token, baseUrl = GITHUB, requestTimeoutMs = REQUEST_TIMEOUT_MS } = options;
  const { origin } = new URL(baseUrl);
  return new Octokit({
    ...defined({ auth: token }),
    baseUrl: baseUrl.replace(/\/+$/, ""),
    userAgent: "helmdeck-memory",
    log: silent,
    request: {
      log: silent,
      fetch: (url: string, init: RequestInit) => {
        const ended = AbortSignal.any([signal, AbortSignal.timeout(requestTimeoutMs)]);
        return limitedFetch(origin, url, { ...init, signal: ended });
      },
    },
  });
}

/** https://docs.github.com/en/rest/using-the-rest-api/using-pagination-in-the-rest-api */
function nextOf(link: string | undefined): string | undefined {
  return /<([^<>]+)>;\s*rel="next"/.exec(link ?? "")?.[1];
}

/** Read to its end here: Octokit takes an answer that breaks off for an empty one. */
async function limitedFetch(origin: string, url: string, init: RequestInit): Promise<Response> {
  if (new URL(url).origin !== origin) {
    throw new HelmdeckError("upstream_failed", "GitHub's answer leads to another host; it was not followed.");
  }
  const { body, status, headers } = await fetch(url, init);
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of body ?? []) {
    sizeBytes += chunk.byteLength;
    if (sizeBytes > ANSWER_BYTES) throw new HelmdeckError("upstream_failed", "GitHub's answer is too large.");
    chunks.push(chunk);
  }
  return new Response(sizeBytes === 0 ? null : Buffer.concat(chunks), { status, headers });
}

/** A token must not travel in clear; to a server on this machine it may. Throws `invalid_input`. */
export function requireGitHubUrl({ baseUrl = GITHUB }: GitHubOptions): void {
  const url = URL.parse(baseUrl);
  const isLocal = ["localhost", "127.0.0.1", "[::1]"].includes(url?.hostname ?? "");
  const isPlain = url?.username === "" && url.password === "" && url.search === "" && url.hash === "";
  if (isPlain && (url.protocol === "https:" || (url.protocol === "http:" && isLocal))) return;
  throw invalidField(
    "baseUrl",
    "must be https://…, without a user, such as https://github.example.org/api/v3",
    {
      named: "The address of GitHub's API",
    },
  );
}

interface Refusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | number | undefined>>;
  readonly message: string;
}

/** https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api */
function failureOf(error: unknown, now: UnixMs): HelmdeckError {
  const refusal = refusalOf(error);
  if (refusal === undefined) return unreachable(error);
  return rateLimit(refusal, now) ?? refused(refusal);
}

/** Undefined when no answer came at all; the client then claims a 500 of its own. */
function refusalOf(error: unknown): Refusal | undefined {
  if (!(error instanceof Error) || !("status" in error) || !("response" in error)) return undefined;
  const { response } = error;
  if (typeof response !== "object" || response === null || !("headers" in response)) return undefined;
  // The client made both from the answer it got; see its RequestError.
  return {
    status: Number(error.status),
    headers: response.headers as Refusal["headers"],
    message: error.message,
  };
}

function unreachable(error: unknown): HelmdeckError {
  const cause = error instanceof Error ? error.cause : undefined;
  if (isHelmdeckError(cause)) return cause;
  const why =
    cause instanceof Error && cause.name === "TimeoutError" ? "did not answer in time" : "cannot be reached";
  return new HelmdeckError("upstream_failed", `GitHub ${why}; try again later.`);
}

/** Undefined when it is no rate limit: a 403 can be one, or a lack of rights. */
function rateLimit({ status, headers, message }: Refusal, now: UnixMs): HelmdeckError | undefined {
  if (status !== 403 && status !== 429) return undefined;
  const wait = waitSeconds(headers, now);
  const isLimit = wait !== undefined || status === 429 || /rate limit/i.test(message);
  if (!isLimit) return undefined;
  const retryAfterSeconds = wait ?? SECONDARY_WAIT_SECONDS;
  return new HelmdeckError(
    "rate_limited",
    `GitHub's rate limit is used up; try again in ${retryAfterSeconds} s. A token of the operator raises it.`,
    { details: { service: "github", retryAfterSeconds } },
  );
}

/** The secondary limit says how long; the primary one when it is over. */
function waitSeconds(headers: Refusal["headers"], now: UnixMs): number | undefined {
  const retryAfter = Number.parseInt(String(headers["retry-after"]), 10);
  if (retryAfter >= 0) return Math.max(1, retryAfter);
  if (String(headers["x-ratelimit-remaining"]) !== "0") return undefined;
  const reset = Number.parseInt(String(headers["x-ratelimit-reset"]), 10);
  return reset >= 0 ? Math.max(1, Math.ceil(reset - now / 1_000)) : undefined;
}

function refused({ status }: Refusal): HelmdeckError {
  const details = { service: "github", status };
  switch (status) {
    case 401:
      return new HelmdeckError(
        "pack_failed",
        "GitHub refuses this server's token (401): it is wrong or has expired. The operator must replace it.",
        { details },
      );
    case 403:
      return new HelmdeckError(
        "pack_failed",
        "GitHub forbids this (403): this server's token lacks the right to read that.",
        { details },
      );
    case 404:
      return new HelmdeckError(
        "not_found",
        "GitHub knows no such repository (404), or this server's token may not see it.",
        { details },
      );
    case 410:
      return new HelmdeckError("pack_failed", "Issues are turned off in that repository (410).", { details });
    case 422:
      return new HelmdeckError("invalid_input", "GitHub does not accept these filters (422).", { details });
    default:
      return new HelmdeckError("upstream_failed", `GitHub answered with status ${status}; try again later.`, {
        details,
      });
  }
}
