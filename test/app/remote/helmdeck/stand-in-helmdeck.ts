/**
 * A stand-in for a running helmdeck 0.29, written from its description: its REST API for memory and its memory endpoint over
 * Server-Sent Events, including failures. The suite also runs against the real one if HELMDECK_BIN names it.
 */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { json as readJson } from "node:stream/consumers";

interface Row {
  readonly key: string;
  readonly value: string;
  readonly category: string;
  readonly at: number;
}

interface Run {
  readonly kind: "pack" | "pipeline";
  readonly key: string;
  readonly id: string;
  readonly outcome: string;
  readonly at_unix: number;
  readonly learn_inputs?: Readonly<Record<string, string>>;
}

interface Session {
  readonly subject: string;
  readonly stream: ServerResponse;
}

interface Caller {
  readonly sub: string;
  readonly scopes: readonly string[];
}

/** Faults to simulate; several may be set together. */
export interface Faults {
  /** Its key is malformed: it stores nothing but reports success. */
  memoryOff?: boolean;
  /** Stores are lost but reads work, as if memory failed between two requests. */
  losesStores?: boolean;
  /** One row cannot be decrypted. */
  badRow?: boolean;
  /** It does not answer requests. */
  silent?: boolean;
  /** Streams open, but answers never arrive. */
  mute?: boolean;
  /** Answers with what was there when a query came, but only when this resolves. */
  late?: (query: string) => Promise<void> | undefined;
  /** The number of extra bytes in each answer. */
  padding?: number;
  /** Another program listens on its port. */
  otherProgram?: boolean;
  /** The endpoint that its stream announces for requests. */
  endpoint?: string;
}

const CHUNKS = { byDefault: 20, most: 100 };
const RUN_TTL_SECONDS = 3_600;

export class StandInHelmdeck {
  faults: Faults = {};
  /** Requests that helmdeck would record in its audit log. */
  readonly requests: string[] = [];
  streamsOpened = 0;
  readonly #rows = new Map<string, Map<string, Row>>();
  readonly #runs = new Map<string, Run[]>();
  readonly #sessions = new Map<string, Session>();
  readonly #sockets = new Set<Socket>();
  readonly #nowMs: () => number;
  #server: Server | undefined;
  #port = 0;
  #clock = 0;

  constructor(nowMs: () => number = Date.now) {
    this.#nowMs = nowMs;
  }

  static async start(nowMs?: () => number): Promise<StandInHelmdeck> {
    const helmdeck = new StandInHelmdeck(nowMs);
    await helmdeck.start();
    return helmdeck;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get openStreams(): number {
    return this.#sessions.size;
  }

  /** A token in the usual form, but without a valid signature: the stand-in accepts it. */
  tokenOf(sub: string, { scopes = [] as readonly string[], ttlSeconds = RUN_TTL_SECONDS } = {}): string {
    const exp = Math.floor(this.#nowMs() / 1_000) + ttlSeconds;
    const part = (fields: object) => Buffer.from(JSON.stringify(fields)).toString("base64url");
    const signature = randomBytes(8).toString("base64url");
    return `${part({ alg: "HS256", typ: "JWT" })}.${part({ iss: "helmdeck", sub, exp, scopes })}.${signature}`;
  }

  /** Starts on the same port as before. */
  async start(): Promise<void> {
    this.#server = createServer((request, response) => void this.#answer(request, response));
    this.#server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
    this.#server.listen(this.#port, "127.0.0.1");
    await once(this.#server, "listening");
    this.#port = (this.#server.address() as AddressInfo).port; // the server listens on a port
  }

  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    this.#sessions.clear();
    for (const socket of this.#sockets) socket.destroy();
    if (server === undefined) return;
    server.close();
    await once(server, "close");
  }

  /** Adds the record of a pack's run for a caller. */
  async addRun(sub: string, id: string, kind: Run["kind"] = "pack"): Promise<void> {
    this.#clock += 1;
    const at_unix = Math.floor(this.#nowMs() / 1_000);
    const key = `${kind}_history/${id}/${String(at_unix * 1e9)
      .padStart(20, "0")
      .slice(0, 14)}${String(this.#clock).padStart(6, "0")}`;
    const runs = this.#runs.get(sub) ?? [];
    const outcome = kind === "pack" ? "ok" : "succeeded";
    this.#runs.set(sub, [
      { kind, key, id, outcome, at_unix, learn_inputs: { persona_used: "calm" } },
      ...runs,
    ]);
  }

  /** Writes directly, without a request. */
  put(sub: string, key: string, value: string, category = "user_facts"): void {
    this.#clock += 1;
    const rows = this.#rows.get(sub) ?? new Map<string, Row>();
    this.#rows.set(sub, rows);
    rows.delete(key);
    rows.set(key, { key, value, category, at: this.#clock });
  }

  take(sub: string, key: string): void {
    this.#rows.get(sub)?.delete(key);
  }

  has(sub: string, key: string): boolean {
    return this.#rows.get(sub)?.has(key) === true;
  }

  runsOf(sub: string): number {
    return this.#runs.get(sub)?.length ?? 0;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", this.url);
    if (this.faults.silent) return void request.resume();
    if (this.faults.otherProgram) return send(response, 200, { canary: true });
    if (url.pathname === "/healthz") return send(response, 200, { status: "ok" });
    if (url.pathname === "/version") return send(response, 200, { version: "0.29.10" });
    this.requests.push(`${request.method} ${url.pathname}`);
    const caller = this.#callerOf(request);
    if (typeof caller === "string")
      return send(response, 401, { error: caller, message: "token has invalid claims: token is expired" });
    switch (`${request.method} ${url.pathname}`) {
      case "GET /api/v1/mcp/qmd/sse":
        return this.#openStream(caller, request, response);
      case "POST /api/v1/mcp/qmd/sse/message":
        return this.#heard(url, request, response);
      case "GET /api/v1/memory/defaults":
        return this.#defaults(caller, response);
      case "GET /api/v1/memory/callers":
        return this.#callers(caller, response);
      case "POST /api/v1/memory/store":
        return this.#store(caller, request, response);
      case "POST /api/v1/memory/forget":
        return this.#forget(caller, request, response);
      default:
        return send(response, 404, { error: "not_found", message: "404 page not found" });
    }
  }

  #callerOf({ headers }: IncomingMessage): Caller | "missing_bearer" | "invalid_token" {
    const token = /^Bearer (.+)$/.exec(headers.authorization ?? "")?.[1];
    if (token === undefined) return "missing_bearer";
    try {
      const { sub, scopes, exp } = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
      return exp * 1_000 <= this.#nowMs() ? "invalid_token" : { sub, scopes: scopes ?? [] };
    } catch {
      return "invalid_token";
    }
  }

  #openStream({ sub }: Caller, request: IncomingMessage, response: ServerResponse): void {
    if (this.faults.memoryOff)
      return void send(response, 503, {
        error: "qmd_unavailable",
        message: "helmdeck memory store not configured",
      });
    this.streamsOpened += 1;
    const id = randomBytes(16).toString("hex");
    this.#sessions.set(id, { subject: sub, stream: response });
    request.once("close", () => this.#sessions.delete(id));
    response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
    const { endpoint = `/api/v1/mcp/qmd/sse/message?sessionId=${id}` } = this.faults;
    response.write(`event: endpoint\ndata: ${endpoint}\n\n: keepalive\n\n`);
  }

  async #heard(url: URL, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const session = this.#sessions.get(url.searchParams.get("sessionId") ?? "");
    if (session === undefined)
      return send(response, 404, {
        error: "unknown_session",
        message: "session not found or already closed",
      });
    const message = Object(await readJson(request));
    response.writeHead(202).end();
    if (message.id === undefined || this.faults.mute) return;
    const reply = { jsonrpc: "2.0", id: message.id, ...this.#replyTo(session, message) };
    if (message.method === "tools/call") await this.faults.late?.(message.params.arguments.query);
    session.stream.write(`event: message\ndata: ${JSON.stringify(reply)}\n\n`);
  }

  #replyTo(
    { subject }: Session,
    { method, params }: { method?: string; params?: Record<string, unknown> },
  ): object {
    if (method === "initialize")
      return {
        result: {
          protocolVersion: "2024-11-05",
          capabilities: { tools: {} },
          serverInfo: { name: "helmdeck", version: "1.0.0" },
        },
      };
    if (method !== "tools/call" || params?.name !== "query")
      return { error: { code: -32601, message: "canary: unknown" } };
    if (this.faults.badRow)
      return { error: { code: -32603, message: "list memory: memory: decrypt: canary" } };
    const results = this.#query(subject, Object(params.arguments));
    const padding = "x".repeat(this.faults.padding ?? 0);
    const content = [{ type: "text", text: JSON.stringify({ results }) + padding }];
    return { result: { structuredContent: { results }, content } };
  }

  /** Matches the phrase, or scores by the share of its words that occur. With equal scores, the newest comes first. */
  #query(sub: string, { query = "", limit = 0 }: { query?: string; limit?: number }) {
    const asked = query.trim().toLowerCase();
    const words = asked.split(/\s+/).filter((word) => word !== "");
    const scored = this.#chunks(sub).map((chunk) => ({
      ...chunk,
      score: scoreOf(chunk.snippet.toLowerCase(), asked, words),
    }));
    const most = limit > 0 && limit <= CHUNKS.most ? limit : CHUNKS.byDefault;
    return scored
      .filter(({ score }) => score > 0)
      .sort((one, other) => other.score - one.score)
      .slice(0, most);
  }

  #chunks(sub: string) {
    const rows = [...(this.#rows.get(sub)?.values() ?? [])].sort((one, other) => other.at - one.at);
    const runs = (this.#runs.get(sub) ?? []).map(({ kind, key, id, outcome }) => ({
      docid: `${kind}_history/${key}`,
      snippet: `## ${kind === "pack" ? "Pack call" : "Pipeline run"}: ${id}\n\nOutcome: ${outcome}\n`,
      collection: `helmdeck-${kind}_history`,
      file: `audit/${kind}/${id}`,
    }));
    const facts = rows.map(({ key, value, category }) => ({
      docid: `${category}/${key}`,
      snippet: `## ${key}\n\n${value}\n\n(category: ${category})`,
      collection: `helmdeck-${category}`,
      file: `facts/${key}`,
    }));
    return [...facts, ...runs];
  }

  #defaults({ sub }: Caller, response: ServerResponse): void {
    const recent = (this.#runs.get(sub) ?? []).slice(0, 200);
    send(response, 200, {
      scope: `caller=${sub}`,
      fetched_at: "2026-11-23T00:00:00Z",
      packs: [],
      pipelines: [],
      recent,
    });
  }

  #callers({ sub, scopes }: Caller, response: ServerResponse): void {
    const names = [...new Set([...this.#rows.keys(), ...this.#runs.keys()])];
    const shown = scopes.includes("admin") ? names : names.filter((name) => name === sub);
    const callers = shown.map((namespace) => ({
      namespace,
      count: (this.#rows.get(namespace)?.size ?? 0) + this.runsOf(namespace),
    }));
    send(response, 200, { callers: this.faults.memoryOff ? [] : callers.length === 0 ? null : callers });
  }

  async #store({ sub }: Caller, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const given = Object(await readJson(request));
    const key = String(given.key ?? "").trim();
    const value = String(given.value ?? "").trim();
    const category = String(given.category ?? "").trim() || "user_facts";
    if (key === "" || value === "")
      return send(response, 400, { error: "invalid_input", message: "key and value are required" });
    if (!this.faults.memoryOff && !this.faults.losesStores) this.put(sub, key, value, category);
    const expires_at = new Date(this.#nowMs() + Number(given.ttl_seconds ?? 7_776_000) * 1_000).toISOString();
    send(response, 200, { key, category, expires_at: expires_at.replace(/\.\d+Z$/, "Z") });
  }

  async #forget({ sub }: Caller, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { scope = "" }: { scope?: string } = Object(await readJson(request));
    const prefixes = prefixesOf(scope);
    if (prefixes === undefined)
      return send(response, 400, { error: "invalid_input", message: "unknown scope" });
    const goes = (key: string) =>
      prefixes.some((prefix) => key.toLowerCase().startsWith(prefix.toLowerCase()));
    const rows = this.#rows.get(sub) ?? new Map<string, Row>();
    const gone = [...rows.keys()].filter(goes);
    for (const key of gone) rows.delete(key);
    const runs = this.#runs.get(sub) ?? [];
    const kept = runs.filter(({ key }) => !goes(key));
    this.#runs.set(sub, kept);
    send(response, 200, { scope, deleted: gone.length + runs.length - kept.length });
  }
}

function scoreOf(text: string, asked: string, words: readonly string[]): number {
  if (asked === "") return 0.5;
  if (text.includes(asked)) return 0.9;
  return words.filter((word) => word.length > 1 && text.includes(word)).length / words.length;
}

function prefixesOf(scope: string): readonly string[] | undefined {
  if (scope === "all") return ["pack_history/", "pipeline_history/"];
  if (scope === "packs" || scope === "pipelines") return [`${scope.slice(0, -1)}_history/`];
  const [, kind = "", name = ""] = /^(pack|pipeline|key):(.+)$/s.exec(scope) ?? [];
  if (kind === "key") return [name];
  return kind === "" ? undefined : [`${kind}_history/${name}/`];
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "Content-Type": "application/json" }).end(`${JSON.stringify(body)}\n`);
}
