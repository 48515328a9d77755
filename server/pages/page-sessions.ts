/**
 * Sessions of the pages, kept only in this process, so a restart signs everybody out.
 *
 * Threat: somebody reads this process's memory or a core dump, guesses an id, plants an id before a sign-in (session fixation),
 * or signs in endlessly. Defence: an id is 256 random bits and only its hash is kept; each sign-in makes a new id; a session
 * ends when idle, after a working day, and with its token; a caller with too many sessions loses their own oldest.
 */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { Context } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import type { ShareLimits } from "../../engine/fair-share.ts";
import type { Caller, PageSession, ServerEnv } from "../caller.ts";

const SECRET_BYTES = 32;

export interface PageSessionLimits extends ShareLimits {
  readonly idleMs: number;
  /** Counted from the sign-in, even if the session is in use. */
  readonly lifeMs: number;
}

export const PAGE_SESSION_LIMITS: PageSessionLimits = {
  perCaller: 16,
  total: 1_024,
  idleMs: 60 * 60_000,
  lifeMs: 12 * 60 * 60_000,
};

interface KeptSession extends PageSession {
  readonly endsAt: number;
  lastSeenAt: number;
}

export class PageSessions {
  readonly #limits: PageSessionLimits;
  readonly #now: () => number;
  /** By the hash of their ids, longest unused first. */
  readonly #sessions = new Map<string, KeptSession>();

  constructor(limits: PageSessionLimits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
  }

  /** Returns the new session's id, only for the caller's browser. */
  open(caller: Caller, tokenExpiresAt: number, isAccepted: PageSession["isAccepted"]): string {
    const now = this.#now();
    this.#endThoseThatAreOver();
    this.#makeRoomFor(caller);
    const id = randomSecret();
    const endsAt = Math.min(now + this.#limits.lifeMs, tokenExpiresAt);
    const session = { caller, formToken: randomSecret(), isAccepted };
    this.#sessions.set(hashOf(id), { ...session, endsAt, lastSeenAt: now });
    return id;
  }

  find(id: string): PageSession | undefined {
    const hash = hashOf(id);
    const session = this.#sessions.get(hash);
    if (session === undefined) return undefined;
    this.#sessions.delete(hash);
    if (this.#isOver(session)) return undefined;
    session.lastSeenAt = this.#now();
    this.#sessions.set(hash, session);
    return session;
  }

  end(id: string): void {
    this.#sessions.delete(hashOf(id));
  }

  #isOver({ endsAt, lastSeenAt }: KeptSession): boolean {
    const now = this.#now();
    return now >= endsAt || now >= lastSeenAt + this.#limits.idleMs;
  }

  #endThoseThatAreOver(): void {
    for (const [hash, session] of this.#sessions) if (this.#isOver(session)) this.#sessions.delete(hash);
  }

  #makeRoomFor({ subject }: Caller): void {
    const own = [...this.#sessions].filter(([, { caller }]) => caller.subject === subject);
    const [oldestOwn] = own.length >= this.#limits.perCaller ? own : [];
    const [oldest] = this.#sessions.size >= this.#limits.total ? this.#sessions : [];
    const goes = oldestOwn ?? oldest;
    if (goes !== undefined) this.#sessions.delete(goes[0]);
  }
}

export function randomSecret(): string {
  return randomBytes(SECRET_BYTES).toString("base64url");
}

export function isFormTokenOf({ formToken }: PageSession, given: string): boolean {
  return timingSafeEqual(digestOf(formToken), digestOf(given));
}

function hashOf(id: string): string {
  return digestOf(id).toString("base64url");
}

/** Hashing also makes both sides of the comparison equally long. */
function digestOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

const NAME = "helmdeck";
const OURS = new RegExp(`(?:^|;\\s*)(?:__(?:Host|Secure)-${NAME}|${NAME}-\\d+)=`);
const ATTRIBUTES = { httpOnly: true, sameSite: "Strict" } as const;

/**
 * The session cookie: only for these pages, and not readable by scripts.
 *
 * Whether the visitor may be signed in.
 */
export function hasSessionCookie(cookies: string | undefined): boolean {
  return cookies !== undefined && OURS.test(cookies);
}

export class SessionCookie {
  readonly #c: Context<ServerEnv>;
  readonly #name: string;
  readonly #attributes: typeof ATTRIBUTES & { readonly secure: boolean; readonly path: string };

  /**
   * `origin`, `base`: our address as the browser sees it. Cookies are shared by all ports of a host, so the cookie's name has the
   * port. Below a base, other programs of the host do not get it; a browser takes a `__Host-` cookie for the whole host only.
   */
  constructor(c: Context<ServerEnv>, origin: string, base: string) {
    const { protocol, port } = new URL(origin);
    const secure = protocol === "https:";
    this.#c = c;
    const secureName = `${base === "" ? "__Host" : "__Secure"}-${NAME}`;
    this.#name = secure ? secureName : `${NAME}-${port === "" ? "80" : port}`;
    this.#attributes = { ...ATTRIBUTES, secure, path: base || "/" };
  }

  get id(): string | undefined {
    return getCookie(this.#c, this.#name);
  }

  set(id: string): void {
    setCookie(this.#c, this.#name, id, this.#attributes);
  }

  clear(): void {
    deleteCookie(this.#c, this.#name, this.#attributes);
  }
}
