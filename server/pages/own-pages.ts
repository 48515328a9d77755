/**
 * The pages alone, on loopback, for the person who starts them: no REST, no MCP, no token.
 *
 * Threat: another account of this machine connects, or reads an address with its code in the process list and opens it first.
 * Defence: a code opens one session, within its time, and only its hash is kept. Linux says whose a connection is, and refuses
 * those of other accounts. Elsewhere, the owner's own use of a stolen code ends what it opened. Other sites in the owner's browser
 * meet the guards of all pages.
 */
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { release } from "node:os";
import { Hono } from "hono";
import { HelmdeckError } from "../../engine/errors.ts";
import type { ServerContext } from "../../packs/server-context.ts";
import { answerFailures } from "../answer-failures.ts";
import { NOBODY } from "../authentication.ts";
import type { ServerEnv } from "../caller.ts";
import { guardAddress, guardHost } from "../guards/addresses.ts";
import { IN_FLIGHT_LIMITS, limitInFlight, makeRateLimits } from "../guards/rate.ts";
import { listen } from "../listening.ts";
import { headEveryAnswer } from "../observing.ts";
import { addPages, type PagesSettings } from "./add-pages.ts";
import type { SignIn } from "./page-guards.ts";
import { randomSecret } from "./page-sessions.ts";

export interface OwnPagesOptions extends Pick<ServerContext, "memory"> {
  readonly subject: string;
  readonly port: number;
  readonly pages: PagesSettings;
  /** They are unused after this time without a request of somebody who is signed in. */
  readonly idleMs: number;
  /** A code came again. Everybody is signed out. */
  readonly onStolen: () => void;
  readonly onUnexpected: (error: unknown) => void;
}

export type OwnPages = Awaited<ReturnType<typeof serveOwnPages>>;

const GRACE_MS = 1_000;
const USED = Number.POSITIVE_INFINITY;

export async function serveOwnPages(options: OwnPagesOptions) {
  const { memory, subject, port, pages, idleMs, onStolen, onUnexpected } = options;
  const { promise: unused, resolve } = Promise.withResolvers<void>();
  const idle = setTimeout(resolve, idleMs).unref();
  /** Until when, by hash. */
  const codes = new Map<string, number>();
  let thefts = 0;
  const byCode: SignIn = async (code) => {
    const name = hash("sha256", code);
    const until = codes.get(name) ?? 0;
    if (until === USED) {
      thefts += 1;
      onStolen();
      throw refuseCode(
        "was opened before. If that was not you, somebody else has seen it. Nobody is signed in now",
      );
    }
    if (performance.now() >= until) throw refuseCode("is too old, or not one of these pages");
    codes.set(name, USED);
    const before = thefts;
    const isAccepted = async () => {
      if (thefts === before) idle.refresh();
      return thefts === before;
    };
    return { caller: { ...NOBODY, subject }, expiresAt: Number.POSITIVE_INFINITY, isAccepted };
  };
  const failures = { failed: () => {}, unexpected: onUnexpected };
  const limits = makeRateLimits(() => 0); // no other account gets this far, and nobody guesses 256 bits
  const app = new Hono<ServerEnv>();
  app.onError(answerFailures(failures));
  app.use(
    headEveryAnswer(() => false),
    guardHost(() => ({ allowedHosts: [], allowedOrigins: [] })),
    guardAddress,
  );
  const parts = { serverContext: { memory }, pages, byCode, base: "", limits, failures, now: Date.now };
  addPages(app, parts, [limitInFlight(IN_FLIGHT_LIMITS)]);
  const { url, stop } = await listen(app, {
    ...{ host: "127.0.0.1", port, hasAuthentication: true },
    refusalOf: ({ socket }) => (isOfAnotherAccount(socket) ? refuseAccount() : undefined),
  });
  return {
    url,
    unused,
    /** It opens the pages once, within this time. */
    address: (lifeMs: number) => {
      const code = randomSecret();
      codes.set(hash("sha256", code), performance.now() + lifeMs);
      idle.refresh();
      return `${url}/sign-in/${code}`;
    },
    close: async () => {
      clearTimeout(idle);
      await stop(GRACE_MS);
    },
  };
}

/** In Windows' Subsystem for Linux, Windows' browser connects through root, or from outside of the tables. */
const IS_WSL = release().toLowerCase().includes("microsoft");

/** By the system's tables of connections. A socket for IPv6 can connect to 127.0.0.1, too. */
function isOfAnotherAccount({ remotePort, localPort }: Socket): boolean {
  if (process.platform !== "linux") return false;
  const rows = ["tcp", "tcp6"].flatMap((table) => readFileSync(`/proc/net/${table}`, "utf8").split("\n"));
  const ends = [remotePort, localPort].map((port = 0) => port.toString(16).toUpperCase().padStart(4, "0"));
  const uids = rows
    .map((row) => row.trim().split(/\s+/))
    .filter((fields) => ends.every((end, at) => fields[at + 1]?.endsWith(`:${end}`)))
    .map((fields) => Number(fields[7]));
  const isOwn = (uid: number) => uid === process.geteuid?.() || (IS_WSL && uid === 0);
  return !uids.every(isOwn) || (uids.length === 0 && !IS_WSL);
}

function refuseAccount(): HelmdeckError {
  return new HelmdeckError("forbidden", "These pages are for the account that started them.");
}

function refuseCode(why: string): HelmdeckError {
  return new HelmdeckError("invalid_token", `This address ${why}.`);
}
