/** Pages over a real memory, as a surface would serve them, with a fixed clock. */
import { makePages } from "../../pages/pages.ts";
import type { Viewer } from "../../pages/viewer.ts";
import { openTestMemory, TestClock } from "../app/fixtures/memories.ts";

export const BASE = "/plugins/helmdeck-memory";

export const COMMANDS = { kind: "commands", program: "openclaw helmdeck", options: "--agent work" } as const;
export const FORMS = {
  kind: "forms",
  formToken: "a-token",
  writer: { surface: "server", agent: "main" },
  signOutPath: "/sign-out",
} as const;

export type Rig = Awaited<ReturnType<typeof openRig>>;

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly location: string | undefined;
}

/** `doctor: "none"` is for a server that somebody else operates. */
type Given = Partial<Omit<Viewer, "doctor">> & { readonly doctor?: Viewer["doctor"] | "none" };

export async function openRig({ doctor, ...viewer }: Given = {}, base = BASE) {
  const clock = new TestClock();
  const memory = await openTestMemory({ now: clock.now });
  const shown: Viewer = {
    memory,
    subject: "main",
    choices: [],
    sees: "values",
    changes: COMMANDS,
    seesCallers: false,
    ...(doctor !== "none" && { doctor: doctor ?? (() => memory.doctor()) }),
    ...viewer,
  };
  const pages = makePages({
    ...{ base, frameAncestors: "'self'", now: clock.now },
    viewerOf: async () => shown,
  });
  const ask = async (path: string, init?: RequestInit): Promise<Answered> => {
    const response = await pages.request(`http://localhost${base}${path}`, init);
    const { status, headers } = response;
    return { status, headers, text: await response.text(), location: headers.get("location") ?? undefined };
  };
  return {
    memory,
    clock,
    get: (path: string) => ask(path),
    post: (path: string, fields: Readonly<Record<string, string>> | URLSearchParams = {}) =>
      ask(path, { method: "POST", body: new URLSearchParams(fields) }),
  };
}

/** The text of a page without style, script and tags. */
export function textOf({ text }: Answered): string {
  return plain(text.replaceAll(/<(style|script)>.*?<\/\1>/gs, "").replaceAll(/<[^>]*>/g, " "))
    .replaceAll(/\s+/g, " ")
    .trim();
}

/** The fields of the page's form, as a browser would send them. */
export function fieldsOf({ text }: Answered): Record<string, string> {
  const form = /<main.*?(<form method="post".*?<\/form>)/s.exec(text)?.[1] ?? "";
  const inputs = [
    ...form.matchAll(
      /<input type="(?:hidden|text)"[^>]*? name="([^"]*)" value="([^"]*)"|<input type="hidden" name="([^"]*)" value="([^"]*)"/g,
    ),
  ];
  const areas = [...form.matchAll(/<textarea[^>]* name="([^"]*)"[^>]*>\n(.*?)<\/textarea>/gs)];
  const selects = [...form.matchAll(/<select[^>]* name="([^"]*)"/g)].map(([, name = ""]) => [name, ""]);
  const named = inputs.map(([, typed, value, hidden, kept]) => [
    typed ?? hidden ?? "",
    plain(value ?? kept ?? ""),
  ]);
  return Object.fromEntries([
    ...selects,
    ...named,
    ...areas.map(([, name = "", value = ""]) => [name, plain(value)]),
  ]);
}

/** The path of the next page, if there is one. */
export function nextOf({ text }: Answered): string | undefined {
  return /href="([^"]*)" rel="next"/.exec(text)?.[1]?.replaceAll("&amp;", "&").slice(BASE.length);
}

/** Decodes HTML escapes. */
export function plain(text: string): string {
  const names: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', amp: "&", "#39": "'" };
  return text.replaceAll(/&(lt|gt|quot|amp|#39);/g, (_, name: string) => names[name] ?? "");
}
