/**
 * A client of GitHub's REST API for packs: paging, limits of time and size, and our own error messages.
 *
 * Threat: the server or a proxy answers endlessly, slowly, or with a next page on another host, which would receive the token.
 * Defence: each answer has a deadline and a size limit, and requests go only to the configured address. No error contains the
 * request (with its token) or GitHub's text, which can come from anyone.
 */
import { Octokit } from "@octokit/core";
import type * as z from "zod";
import { defined } from "../../engine/defined.ts";
import { HelmdeckError, invalidField, isHelmdeckError } from "../../engine/errors.ts";
import type { UnixMs } from "../../engine/store/memory-store.ts";

export interface GitHubOptions {
  /** The operator's token. Absent: anonymous, with GitHub's low rate limit. */
  readonly token?: string;
  /** For GitHub Enterprise: `https://<host>/api/v3`. Default `https://api.github.com`. */
  readonly baseUrl?: string;
  /** Per answer; default 20 s. */
  readonly requestTimeoutMs?: number;
}

export interface GitHubRun {
  readonly signal: AbortSignal;
  readonly now: () => UnixMs;
}

export interface GitHub {
  /** Yields the data of each page. Throws only our own errors. */
  pages(route: string, parameters: Readonly<Record<string, unknown>>): AsyncIterable<unknown>;
  /** The answer parsed by the schema; throws `upstream_failed` if it does not match. */
  require<Data>(schema: z.ZodType<Data>, data: unknown): Data;
}

const GITHUB = "https://api.github.com";
const REQUEST_TIMEOUT_MS = 20_000;
/** A hundred issues with maximum-length texts have about 25 MB. */
const ANSWER_BYTES = 32 * 1_024 * 1_024;
/** GitHub's documentation asks for at least a minute if an answer has no time. */
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
    // Own paging: Octokit's treats an incomplete answer, and a 409, as an empty page, and drops the signal.
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
      throw new HelmdeckError("upstream_failed", "GitHub's answer does not match its API.");
    },
  };
}

/** Octokit logs to the console by default, which may be an MCP channel. */
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

/** Reads the complete answer here, because Octokit treats an incomplete one as empty. */
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

/** A token must not be sent in clear text, except to this machine. Throws `invalid_input`. */
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

/** Undefined if there was no answer; the client then reports its own 500. */
function refusalOf(error: unknown): Refusal | undefined {
  if (!(error instanceof Error) || !("status" in error) || !("response" in error)) return undefined;
  const { response } = error;
  if (typeof response !== "object" || response === null || !("headers" in response)) return undefined;
  // The client takes both from the answer; see its RequestError.
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

/** Undefined if it is not a rate limit: a 403 can be one, or missing rights. */
function rateLimit({ status, headers, message }: Refusal, now: UnixMs): HelmdeckError | undefined {
  if (status !== 403 && status !== 429) return undefined;
  const wait = waitSeconds(headers, now);
  const isLimit = wait !== undefined || status === 429 || /rate limit/i.test(message);
  if (!isLimit) return undefined;
  const retryAfterSeconds = wait ?? SECONDARY_WAIT_SECONDS;
  return new HelmdeckError(
    "rate_limited",
    `GitHub's rate limit is used up; try again in ${retryAfterSeconds} s. A token from the operator raises the limit.`,
    { details: { service: "github", retryAfterSeconds } },
  );
}

/** The secondary limit has a duration, the primary one an end time. */
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
        "GitHub forbids this (403): this server's token has no right to read it.",
        { details },
      );
    case 404:
      return new HelmdeckError(
        "not_found",
        "GitHub has no such repository (404), or this server's token has no access to it.",
        { details },
      );
    case 410:
      return new HelmdeckError("pack_failed", "Issues are disabled in this repository (410).", { details });
    case 422:
      return new HelmdeckError("invalid_input", "GitHub does not accept these filters (422).", { details });
    default:
      return new HelmdeckError("upstream_failed", `GitHub answered with status ${status}; try again later.`, {
        details,
      });
  }
}
