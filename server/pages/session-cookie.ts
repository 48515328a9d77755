/** The session cookie: only for these pages, and not readable by scripts. */
import type { Context } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import type { ServerEnv } from "../caller.ts";

const NAME = "helmdeck";
const SECURE_NAME = `__Host-${NAME}`;
const OURS = new RegExp(`(?:^|;\\s*)(?:${SECURE_NAME}|${NAME}-\\d+)=`);
const ATTRIBUTES = { path: "/", httpOnly: true, sameSite: "Strict" } as const;

/** Whether the visitor may be signed in. */
export function hasSessionCookie(cookies: string | undefined): boolean {
  return cookies !== undefined && OURS.test(cookies);
}

export class SessionCookie {
  readonly #c: Context<ServerEnv>;
  readonly #name: string;
  readonly #attributes: typeof ATTRIBUTES & { readonly secure: boolean };

  /** `origin`: our origin as the browser sees it. Cookies are shared by all ports of a host, so the cookie's name has the port. */
  constructor(c: Context<ServerEnv>, origin: string) {
    const { protocol, port } = new URL(origin);
    const secure = protocol === "https:";
    this.#c = c;
    this.#name = secure ? SECURE_NAME : `${NAME}-${port === "" ? "80" : port}`;
    this.#attributes = { ...ATTRIBUTES, secure };
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
