/** The real helmdeck, if HELMDECK_BIN names its control-plane. Tests compare the stand-in with it. */
import { type ChildProcess, spawn } from "node:child_process";
import { createHmac, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { freePort } from "../../../../scripts/openclaw-host/home.ts";

export class RealHelmdeck {
  readonly #binary: string;
  readonly #folder: string;
  readonly #secret = randomBytes(32).toString("hex");
  readonly #key = randomBytes(32).toString("hex");
  readonly #port: number;
  #child: ChildProcess | undefined;

  private constructor(binary: string, folder: string, port: number) {
    this.#binary = binary;
    this.#folder = folder;
    this.#port = port;
  }

  static async start(binary: string): Promise<RealHelmdeck> {
    const folder = await mkdtemp(join(tmpdir(), "helmdeck-real-"));
    const helmdeck = new RealHelmdeck(binary, folder, await freePort());
    await helmdeck.start();
    return helmdeck;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  tokenOf(sub: string, { scopes = [] as readonly string[], ttlSeconds = 3_600 } = {}): string {
    const exp = Math.floor(Date.now() / 1_000) + ttlSeconds;
    const parts = [
      { alg: "HS256", typ: "JWT" },
      { iss: "helmdeck", sub, exp, scopes },
    ];
    const signed = parts.map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
    return `${signed}.${createHmac("sha256", this.#secret).update(signed).digest("base64url")}`;
  }

  /** `key` may differ from the key of the rows. A malformed key turns helmdeck's memory off. */
  async start(key = this.#key): Promise<void> {
    const address = ["-addr", `127.0.0.1:${this.#port}`];
    const args = ["-db", join(this.#folder, "helmdeck.db"), ...address, "-disable-runtime"];
    const child = spawn(this.#binary, args, {
      cwd: this.#folder,
      env: {
        HOME: this.#folder,
        HELMDECK_JWT_SECRET: this.#secret,
        HELMDECK_MEMORY_KEY: key,
        HELMDECK_MARKETPLACE_DISABLE: "1",
      },
      stdio: "ignore",
    });
    this.#child = child;
    for (;;) {
      if (child.exitCode !== null) throw new Error(`helmdeck ended with ${child.exitCode}`);
      const answer = await fetch(`${this.url}/healthz`).catch(() => undefined);
      if (answer?.ok) return;
      await pause(50); // helmdeck does not report when it starts to listen
    }
  }

  async stop(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }

  async remove(): Promise<void> {
    await this.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async post(sub: string, path: string, body: object): Promise<void> {
    await fetch(`${this.url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${this.tokenOf(sub)}` },
      body: JSON.stringify(body),
    });
  }

  /** helmdeck also records failed runs. */
  async addRun(sub: string): Promise<void> {
    await this.post(sub, "/api/v1/packs/github.list_issues", { repo: "" });
  }
}
