/**
 * Describes failures of a served engine, each in one line.
 *
 * An attacker may answer in the engine's place, and messages reach a model. So the engine's own text is repeated only for refused
 * input, which a model needs to correct it: one escaped, short line.
 */

import {
  ABOUT_THE_INPUT,
  type ErrorCode,
  type ErrorDetails,
  HelmdeckError,
  type HelmdeckErrorOptions,
} from "../../../engine/errors.ts";
import { harmlessLine } from "../../../engine/facts/hostile-text.ts";
import { cutText } from "../../../engine/projections/frame.ts";
import { type ErrorReply, errorReplySchema } from "../../wire/schemas.ts";
import { type EngineAnswer, NoAnswer, TOO_LARGE, TOO_LATE } from "./engine-request.ts";

/** How messages name the server. */
export interface ServerWords {
  readonly named: string;
  readonly kind: string;
  /** The program that must run there. */
  readonly program: string;
  readonly saysWhy: string;
}

export const AN_ENGINE: ServerWords = {
  named: "The engine",
  kind: "a helmdeck engine",
  program: "helmdeck-memory serve",
  saysWhy: "see its own doctor",
};

/** The request, for messages. */
export interface Asked {
  readonly url: string;
  readonly server: ServerWords;
  /** The owner of the token as people name it; absent for open routes. */
  readonly subject?: string;
  readonly isReading: boolean;
  readonly deadlineMs: number;
  readonly mostBytes: number;
}

const MOST_CHARACTERS = 400;

export function engineUnavailable(message: string, options: HelmdeckErrorOptions = {}): HelmdeckError {
  return new HelmdeckError("engine_unavailable", message, options);
}

/** There was no answer, or an incomplete one. */
export function failureOfConnection(error: unknown, asked: Asked): HelmdeckError {
  if (!(error instanceof NoAnswer)) throw error;
  const { code, wasSent } = error;
  const done = changeOutcome(asked, wasSent);
  const outcome = wasSent || asked.isReading ? { also: ` ${done}` } : { also: "", unchanged: done };
  if (code === TOO_LATE) {
    const seconds = asked.deadlineMs / 1_000;
    return new HelmdeckError(
      "deadline_exceeded",
      `${asked.server.named} at ${asked.url} did not answer within ${seconds} s.${outcome.also}`,
      outcome,
    );
  }
  const reason = `${asked.server.named} at ${asked.url} ${reasonOf(code, asked)}${outcome.also}`;
  return engineUnavailable(reason, outcome);
}

/** Nothing is queued: what was not done stays undone until the caller retries. */
function changeOutcome({ isReading }: Asked, wasSent: boolean): string {
  if (isReading) return "Try again later.";
  return wasSent
    ? "It is unknown whether the change was made. Check before you try again."
    : "Nothing was changed, and nothing is queued.";
}

const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_|HOSTNAME_MISMATCH|ERR_TLS|ERR_SSL|EPROTO/;

function reasonOf(code: string, { mostBytes, server }: Asked): string {
  if (code === TOO_LARGE) return `answers with more than ${mostBytes} bytes, which is over the limit.`;
  if (code === "OTHER_CERTIFICATE")
    return "presents another certificate than fingerprint256 names; no token was sent.";
  if (code === "NOT_PRIVATE")
    return "is not on this machine or a private network, so plain HTTP is refused: use https://, or set allowPlainHttp: true.";
  if (CERTIFICATE.test(code))
    return `presents an untrusted certificate (${code}): set its authority (caFile) or its fingerprint (fingerprint256).`;
  return `cannot be reached (${code}): check that ${server.program} runs there.`;
}

/** The engine refused, or something else answered in its place. */
export function failureOfAnswer(answer: EngineAnswer, asked: Asked): HelmdeckError {
  const { status } = answer;
  const reply = errorReplySchema.safeParse(answer.json);
  if (status >= 300 && status < 400)
    return engineUnavailable(
      `${asked.server.named} at ${asked.url} answers with a redirect, which is not followed.`,
    );
  if (status === 429) return tooOften(answer, asked);
  if (!reply.success) {
    return engineUnavailable(
      `The server at ${asked.url} is not ${asked.server.kind}, or does not work: it answered with status ${status} and no reason. ${changeOutcome(asked, true)}`,
    );
  }
  const { error: code, message, details } = reply.data;
  if (code === "not_found" && message.startsWith(NO_ROUTE)) return tooOld(asked);
  if (code === "invalid_input" && UNKNOWN_CONDITION.test(message)) return tooOld(asked);
  // For example helmdeck's "invalid_input" for a failing database.
  const isItsOwnFault = status >= 500 && code === "invalid_input";
  if (ABOUT_THE_INPUT.has(code) && !isItsOwnFault)
    return new HelmdeckError(code, plainWords(message), { details: revisionIn(details) });
  const isUnknown = code === "deadline_exceeded" || details?.outcome === "unknown";
  return new HelmdeckError(code, sentenceOf(code, message, asked, isUnknown));
}

/** Our servers' message for an unknown route. */
const NO_ROUTE = "There is no such route";
/** An engine of an earlier version refuses a condition, and does nothing. */
const UNKNOWN_CONDITION = /^(if_revision|up_to) is not a known field/;

/** The rest of the details is the engine's own. */
function revisionIn(details: ErrorReply["details"] = {}): ErrorDetails {
  return typeof details.revision === "number" ? { revision: details.revision } : {};
}

function tooOld({ url, server }: Asked): HelmdeckError {
  return engineUnavailable(`${server.named} at ${url} does not know this request: update it.`);
}

function tooOften({ retryAfter }: EngineAnswer, { url, server }: Asked): HelmdeckError {
  const seconds = retryAfter !== undefined && /^\d{1,4}$/.test(retryAfter) ? ` in ${retryAfter} s` : " later";
  const message = `${server.named} at ${url} refused: too many requests; try again${seconds}.`;
  return new HelmdeckError("rate_limited", message, { unchanged: "Nothing was changed." });
}

/** `isUnknown`: the engine may have made the change. */
function sentenceOf(code: ErrorCode, message: string, asked: Asked, isUnknown: boolean): string {
  const { url, server, subject = "", isReading } = asked;
  const done = isUnknown && !isReading ? changeOutcome(asked, true) : "Nothing is queued.";
  switch (code) {
    case "missing_bearer":
    case "invalid_token":
      return `${server.named} at ${url} refused the token of agent ${subject}: ${plainWords(message)}`;
    case "forbidden":
      return `${server.named} at ${url} does not allow this with the token of agent ${subject}: ${plainWords(message)}`;
    default:
      return `${server.named} at ${url} cannot do this now (${code}); ${server.saysWhy}. ${done}`;
  }
}

/** Others' words as one short line. */
export function plainWords(message: string): string {
  return cutText(harmlessLine(message).trim(), MOST_CHARACTERS);
}

/** An invalid answer: a field is missing or has another type. */
export function malformedAnswer(field: string, { url, server }: Asked): HelmdeckError {
  const where = field === "" ? "" : ` (${plainWords(field)})`;
  return engineUnavailable(
    `${server.named} at ${url} answers in an unknown form${where}: update the older of the two.`,
  );
}
