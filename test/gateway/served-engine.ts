/** A real `helmdeck-memory serve`, behind a proxy that a test can close, slow down or make answer nonsense. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { DIST } from "../../scripts/build/build.ts";
import { mintToken } from "../../server/tokens.ts";

const COMMAND = join(DIST, "helmdeck-memory.mjs");

export class EngineProcess {
  readonly folder: string;
  readonly #secret = randomBytes(32).toString("hex");
  readonly #key = randomBytes(32).toString("hex");
  #child: ChildProcess | undefined;
  #port = 0;

  constructor(folder: string) {
    this.folder = folder;
  }

  get port(): number {
    return this.#port;
  }

  /** Uses the same port as before. */
  async start(): Promise<void> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    const child = this.#spawn(["serve", "--json", "--require-memory", "--port", String(this.#port)]);
    this.#child = child;
    const said = text(child.stderr);
    const ended = once(child, "close");
    const [line] = await Promise.race([
      once(createInterface(child.stdout), "line"),
      ended.then(async () => Promise.reject(new Error(`the engine did not start: ${await said}`))),
    ]);
    const { url }: { readonly url: string } = JSON.parse(line);
    this.#port = Number(new URL(url).port);
  }

  async stop(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined) return;
    const ended = once(child, "close");
    child.kill("SIGTERM");
    await ended;
  }

  /** Runs an operator's command on the engine's machine. Returns its output. */
  async run(...args: readonly string[]): Promise<string> {
    const child = this.#spawn(args);
    const [[code], stdout, stderr] = await Promise.all([
      once(child, "close"),
      text(child.stdout),
      text(child.stderr),
    ]);
    if (code !== 0) throw new Error(`helmdeck-memory ${args[0]} ended with ${code}: ${stderr}`);
    return stdout;
  }

  /** Returns the file's path. `agedMs` is the token's age; a token is valid for an hour. */
  async tokenFile(subject: string, agedMs = 0): Promise<string> {
    const asked = { subject, ttlSeconds: 3_600, scopes: ["record"] };
    const { token } = await mintToken(Buffer.from(this.#secret), asked, Date.now() - agedMs);
    const file = join(this.folder, `${subject}.token`);
    await writeFile(file, `${token}\n`, { mode: 0o600 });
    return file;
  }

  #spawn(args: readonly string[]) {
    const { PATH = "" } = process.env;
    const [command = "", ...others] = args;
    return spawn(process.execPath, [COMMAND, command, ...dbOption(command, this.folder), ...others], {
      env: {
        PATH,
        HOME: this.folder,
        HELMDECK_MEMORY_KEY: this.#key,
        HELMDECK_JWT_SECRET: this.#secret,
        HELMDECK_EMBEDDINGS_PROVIDER: "none", // as in the gateway that it is compared with
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
  }
}

function dbOption(command: string, folder: string): readonly string[] {
  return command === "token" ? [] : ["--db", join(folder, "memory.sqlite")];
}

type Door = (request: IncomingMessage, response: ServerResponse) => void;

/** The proxy that the gateway is configured to use as the engine. */
export class FrontDoor {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #goal: () => number;
  /** If undefined, the engine behind it answers. */
  behaves: Door | undefined;

  private constructor(goal: () => number) {
    this.#goal = goal;
    this.#server = createServer((request, response) => {
      if (this.behaves === undefined) return this.#pass(request, response);
      request.resume();
      return this.behaves(request, response);
    });
    this.#server.on("connection", (socket) => this.#sockets.add(socket));
  }

  static async before(engine: EngineProcess): Promise<FrontDoor> {
    const door = new FrontDoor(() => engine.port);
    door.#server.listen(0, "127.0.0.1");
    await once(door.#server, "listening");
    return door;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`; // a server that listens on a port has this form
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }

  #pass(incoming: IncomingMessage, response: ServerResponse): void {
    const { method, url: path, headers } = incoming;
    const onward = request({ host: "127.0.0.1", port: this.#goal(), method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.once("error", () => response.socket?.destroy());
    incoming.pipe(onward);
  }
}
