/** Connecting to a database server: passwords from files, TLS with the operator's certificates, and timeouts. */
import { execFileSync } from "node:child_process";
import { chmod, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { postgresServer } from "../../../app/database-server/postgres-server.ts";
import type { AddressOptions } from "../../../app/database-server/store-address.ts";
import type { MemoryStore } from "../../../engine/store/memory-store.ts";
import { freePort } from "../../../scripts/openclaw-host/home.ts";
import { ANA, fact, refTo } from "../../contract/rig.ts";
import { KEY, makeTempFolder } from "../../engine/store/sqlite-rig.ts";
import { type PostgresServer, startPostgres, until, whyWithoutPostgres } from "../../postgres/server.ts";
import { whyWithout } from "../../run/programs.ts";

const PASSWORD = "hunter2 of the engine";
const missing = whyWithoutPostgres() ?? whyWithout("openssl", "version");

let server: PostgresServer;
let port: number;
let folder = "";
const opened: MemoryStore[] = [];

beforeAll(async () => {
  if (missing !== undefined) return;
  port = await freePort();
  server = await startPostgres({ port });
  await server.query(`CREATE ROLE guarded LOGIN PASSWORD '${PASSWORD}'`);
  await server.query("CREATE DATABASE memory OWNER guarded");
  await server.admit("local all guarded scram-sha-256\nhost all guarded all scram-sha-256");
  folder = await makeTempFolder();
});
afterAll(async () => {
  await server?.dispose();
  if (folder !== "") await rm(folder, { recursive: true });
});
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const store of opened.splice(0)) await store.close();
});

/** Writes a file in `folder` that only this account can read. */
async function put(name: string, content: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content, { mode: 0o600 });
  return path;
}

async function open(address: string, options: Partial<AddressOptions> = {}): Promise<MemoryStore> {
  const reached = await postgresServer(address, {
    ...{ env: {}, homeDir: folder, from: "argument" },
    ...options,
  });
  const store = await reached.open({ key: KEY, quota: {}, beginnings: 0 });
  opened.push(store);
  return store;
}

const onSocket = () => server.url({ user: "guarded", database: "memory" });
const withFile = (path: string) => ({ env: { HELMDECK_MEMORY_STORE_PASSWORD_FILE: path } });

describe.skipIf(missing !== undefined)(`a password${missing ? ` (left out: ${missing})` : ""}`, () => {
  // verifies P-postgres-tls
  test("comes from a file, which is read for each connection", async () => {
    const path = await put("password", `${PASSWORD}\n`);
    const store = await open(onSocket(), withFile(path));
    await store.put(fact("k", "v"));
    await server.query("ALTER ROLE guarded PASSWORD 'another'");
    await put("password", "another");
    await server.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'guarded'");
    expect(await store.get(refTo("k"))).toBeDefined();
    await server.query(`ALTER ROLE guarded PASSWORD '${PASSWORD}'`);
  });

  test.each([
    ["wrong", "not this one", 0o600, "store_unavailable", /refuses this account/],
    ["readable by everybody", PASSWORD, 0o644, "key_unreadable", /chmod 600/],
  ])("that is %s is refused, and never shown", async (_, text, mode, code, says) => {
    const path = await put("refused", text);
    await chmod(path, mode);
    const error = await open(onSocket(), withFile(path)).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code, message: expect.stringMatching(says) });
    expect(`${JSON.stringify(error)} ${(error as Error).stack}`).not.toContain(text);
  });

  /** How often the server's log says that it refused somebody. */
  const refusals = async () =>
    (await readFile(server.logFile, "utf8")).split(/FATAL: {2}(?!term)/).length - 1;

  test.each([
    ["password", "ALTER ROLE guarded PASSWORD 'another'", `ALTER ROLE guarded PASSWORD '${PASSWORD}'`],
    ["role", "ALTER ROLE guarded NOLOGIN", "ALTER ROLE guarded LOGIN"],
    ["database", "ALTER DATABASE memory RENAME TO gone", "ALTER DATABASE gone RENAME TO memory"],
    [
      "privilege",
      "REVOKE CONNECT ON DATABASE memory FROM guarded, public",
      "GRANT CONNECT ON DATABASE memory TO public",
    ],
  ])("that the server refuses for its %s is asked again after a growing pause", async (_, refuse, admit) => {
    const disconnect = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'guarded'";
    const store = await open(onSocket(), withFile(await put("password", PASSWORD)));
    await store.put(fact("k", "v"));
    const alter = refuse.startsWith("REVOKE") ? [refuse, disconnect] : [disconnect, refuse];
    for (const sql of alter) await server.query(sql);
    const ask = () => store.get(refTo("k")).then(String, ({ code }) => code);
    const [before, begunAt] = [await refusals(), performance.now()];
    for (let i = 0; i < 50; i += 1)
      expect(await Promise.all(Array.from({ length: 20 }, ask))).toEqual(Array(20).fill("store_unavailable"));
    const atMost = 10 + 1 + Math.log2(1 + (performance.now() - begunAt) / 1_000); // the first ones came at once
    expect((await refusals()) - before).toBeLessThanOrEqual(atMost);
    await server.query(admit);
    await expect.poll(ask, { timeout: 30_000, interval: 100 }).not.toBe("store_unavailable");
  });

  test("that was refused is tried at once when the file has another", async () => {
    const path = await put("password", PASSWORD);
    const store = await open(onSocket(), withFile(path));
    await store.put(fact("k", "v"));
    await server.query("ALTER ROLE guarded PASSWORD 'another'");
    await server.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'guarded'");
    await expect(store.get(refTo("k"))).rejects.toMatchObject({ code: "store_unavailable" });
    await put("password", "another");
    expect(await store.get(refTo("k"))).toBeDefined();
    await server.query(`ALTER ROLE guarded PASSWORD '${PASSWORD}'`);
  });

  test("that is required but missing is named in the error", async () => {
    await expect(open(onSocket())).rejects.toMatchObject({
      code: "store_unavailable",
      message: expect.stringMatching(/the password/),
    });
  });

  test("comes from a service file", async () => {
    const { socketFolder: host } = server;
    const service = `[memory]\nhost=${host}\nport=${port}\nuser=guarded\ndbname=memory\npassword=${PASSWORD}\n`;
    await put(".pg_service.conf", service);
    const named = await put("services", service.replace("[memory]", "[named]"));
    for (const [name, env] of [
      ["memory", {}],
      ["named", { PGSERVICEFILE: named }],
    ] as const) {
      expect(await (await open(`postgres://?service=${name}`, { env })).namespaces()).toBeDefined();
    }
  });

  test("comes from libpq's password file", async () => {
    vi.stubEnv("PGPASSFILE", await put("pgpass", `127.0.0.1:${port}:memory:guarded:${PASSWORD}\n`));
    expect(await (await open(`postgres://guarded@127.0.0.1:${port}/memory`)).namespaces()).toBeDefined();
  });
});

describe.skipIf(missing !== undefined)("timeouts", () => {
  test("of the address end a statement, and the next one works", async () => {
    const path = await put("password", PASSWORD);
    const store = await open(`${onSocket()}&statement_timeout=200`, withFile(path));
    await store.put(fact("k", "v"));
    const holding = server.query("BEGIN; LOCK TABLE helmdeck_memory.entries; SELECT pg_sleep(600)", [], {
      database: "memory",
    });
    const ended = holding.catch(() => undefined);
    const held = "FROM pg_stat_activity WHERE query LIKE 'BEGIN; LOCK%' AND wait_event = 'PgSleep'";
    await until(async () => (await server.query(`SELECT pid ${held}`)).length === 1);
    await expect(store.list({ namespace: ANA })).rejects.toMatchObject({
      code: "store_locked",
      details: { postgres: "57014" },
    });
    await server.query(`SELECT pg_terminate_backend(pid) ${held}`);
    await ended;
    expect(await store.get(refTo("k"))).toBeDefined();
  });
});

/** Creates a self-signed certificate for these names. Only the server can read its key. */
async function certify(
  name: string,
  names: string,
): Promise<{ readonly path: string; readonly key: string }> {
  const [path, key] = [join(folder, `${name}.crt`), join(folder, `${name}.key`)];
  const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  const who = ["-subj", `/CN=${name}`, "-addext", `subjectAltName=${names}`];
  execFileSync("openssl", ["req", "-x509", ...kind, ...who, "-keyout", key, "-out", path], {
    stdio: "ignore",
  });
  return { path, key };
}

async function present({ path, key }: Awaited<ReturnType<typeof certify>>): Promise<void> {
  await server.putFile("server.crt", await readFile(path, "utf8"));
  await server.putFile("server.key", await readFile(key, "utf8"));
  await server.query("ALTER SYSTEM SET ssl = on");
  await server.query("SELECT pg_reload_conf()");
  await until(async () => (await server.query("SHOW ssl"))[0]?.ssl === "on");
}

// verifies P-postgres-tls
describe.skipIf(missing !== undefined)("TLS", () => {
  let path: string;
  let ours: Awaited<ReturnType<typeof certify>>;
  let theirs: Awaited<ReturnType<typeof certify>>;
  beforeAll(async () => {
    path = await put("password", PASSWORD);
    ours = await certify("ours", "DNS:localhost");
    theirs = await certify("theirs", "DNS:localhost");
  });
  beforeEach(() => present(ours));

  const over = (host: string, query: string) =>
    open(`postgres://guarded@${host}:${port}/memory?${query}`, withFile(path));

  test("verifies the server's certificate and name", async () => {
    await over("localhost", `sslmode=verify-full&sslrootcert=${ours.path}`);
    const spoken = await server.query(
      "SELECT bool_and(ssl) AS ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE usename = 'guarded'",
    );
    expect(spoken).toEqual([{ ssl: true }]);
  });

  test.each([
    ["another certificate", "localhost", () => `sslmode=verify-full&sslrootcert=${theirs.path}`],
    [
      "another certificate, whatever its name",
      "localhost",
      () => `sslmode=verify-ca&sslrootcert=${theirs.path}`,
    ],
    ["an untrusted certificate", "localhost", () => "sslmode=require"],
    ["another name", "127.0.0.1", () => `sslmode=verify-full&sslrootcert=${ours.path}`],
  ])("refuses a server with %s before sending the user name", async (_, host, query) => {
    await expect(over(host, query())).rejects.toMatchObject({
      code: "store_unavailable",
      message: expect.stringMatching(/certificate/),
    });
    const known = "SELECT count(*)::int AS n FROM pg_stat_activity WHERE usename = 'guarded'";
    expect(await server.query(known)).toEqual([{ n: 0 }]);
  });

  test("with verify-ca accepts any name in the certificate", async () => {
    await over("127.0.0.1", `sslmode=verify-ca&sslrootcert=${ours.path}`);
  });

  test("accepts an IP address as a name if the certificate has it", async () => {
    const numbered = await certify("numbered", "IP:127.0.0.1");
    await present(numbered);
    await over("127.0.0.1", `sslmode=verify-full&sslrootcert=${numbered.path}`);
  });

  test("is required even if the server does not support it", async () => {
    await server.query("ALTER SYSTEM SET ssl = off");
    await server.query("SELECT pg_reload_conf()");
    await until(async () => (await server.query("SHOW ssl"))[0]?.ssl === "off");
    await expect(over("localhost", `sslmode=verify-full&sslrootcert=${ours.path}`)).rejects.toMatchObject({
      code: "store_unavailable",
      message: expect.stringMatching(/does not support TLS/),
    });
  });
});
