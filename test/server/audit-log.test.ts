/** The audit log as an operator reads it: what commands, requests, forms and signals leave in the file and in the engine's log. */
import { spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";
import { AUDIT_ACTIONS } from "../../app/audit-log.ts";
import { BUNDLED_COMMAND } from "../cli/command.ts";
import { InProcessHome } from "../cli/in-process.ts";

const SECRET = "canary-secret-of-thirty-two-bytes-or-more";
const VALUE = "canary-value: we deploy through Konflux";
/** A line separator, and what moves a terminal's cursor. */
const FORGED = 'admin\n{"action":"memory_moved"}\r\u2028\u0085\u001b[2J';

interface Line {
  readonly time: string;
  readonly action: string;
  readonly outcome: string;
  readonly code?: string;
  readonly actor: { readonly kind: string; readonly name?: string };
  readonly object: Readonly<Record<string, unknown>>;
}

const home = InProcessHome.forEachTest();
const path = () => home.path("logs/audit.jsonl");

function env(): Record<string, string> {
  mkdirSync(home.path("logs"), { recursive: true });
  writeFileSync(home.path("secret"), `${SECRET}\n`, { mode: 0o600 });
  return { HELMDECK_AUDIT_FILE: path(), HELMDECK_JWT_SECRET_FILE: home.path("secret") };
}

function linesIn(written: string): readonly Line[] {
  expect(written).toMatch(/^(?:[\x20-\x7e]+\n)*$/);
  return written
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

const lines = () => linesIn(readFileSync(path(), "utf8"));
const told = () =>
  lines().map(({ action, outcome, code }) => [action, outcome, ...(code ? [code] : [])].join(" "));

describe("commands", () => {
  // verifies P-quiet-audit-log
  it("leave one line each, done or not, with who, what and when, and no value, token, secret or key", async () => {
    const asked = { env: env() };
    const run = async (...args: readonly string[]) => (await home.run(args, asked)).stdout;
    await run("store", "deploy", VALUE);
    await run("search", "canary-question");
    const token = (await run("token", "--subject", "main", "--scope", "admin")).trim();
    await run("token", "--subject", "a\nb");
    await run("token", "--subject", "main", "--ttl", "900d");
    await run("token", "--revoke", "--subject", "ben");
    await run("export");
    await run("backup", home.path("a.backup"));
    await run("backup", home.path("a.backup"));
    await run("restore", home.path("a.backup"));
    await run("rotate-key");
    await run("key", "saved", `${home.keyPath}`);
    await run("rotate-key", "--new-key-file", home.path("new.key"));
    await run("rotate-key", "--finish");
    writeFileSync(home.keyPath, readFileSync(home.path("new.key")));
    await run("rotate-key", "--finish");
    await run("repair", "--to", home.path("repaired.sqlite"));
    await run("forget", VALUE, "--yes");
    await run("forget", "key:deploy");
    await run("forget", "all", "--yes");
    await run("move", "--to", home.path("other.sqlite"));
    await run("move", "--to", "postgres://me:canary-password@db/memory");
    await run("move", "--reopen");
    await run("move", "--prepare", "--to", "postgres://me:canary-password@db/memory");
    for (const args of [
      ["forget", "all", "--dry-run"],
      ["token", "--show"],
      ["rotate-key", "--dry-run"],
      ["status"],
    ])
      await run(...args);

    expect(told()).toEqual([
      ...[
        "token_made done",
        "token_made refused invalid_input",
        "token_made refused invalid_input",
        "tokens_revoked done",
        "memory_exported done",
      ],
      ...["memory_backed_up done", "memory_backed_up refused invalid_input", "memory_restored done"],
      ...["key_changed done", "key_copy_confirmed refused invalid_input", "key_changed done"],
      ...["key_changed failed key_wrong", "key_changed done", "memory_repaired done"],
      ...["memory_forgotten done", "memory_forgotten refused invalid_input", "memory_forgotten done"],
      ...["memory_moved done", "memory_moved refused invalid_input", "memory_reopened done"],
      "store_prepared refused invalid_input",
    ]);
    const uid = process.geteuid?.();
    for (const { time, actor } of lines()) {
      expect(Date.parse(time)).toBeGreaterThan(Date.now() - 600_000);
      expect(actor).toEqual({ kind: "user", name: expect.stringMatching(/^\S+$/), uid });
    }
    const ofAction = (action: string) => lines().find((line) => line.action === action)?.object;
    expect(ofAction("token_made")).toMatchObject({ subject: "main", scopes: ["admin"] });
    expect(ofAction("tokens_revoked")).toEqual({ subject: "ben", until: expect.stringMatching(/Z$/) });
    const allOf = (action: string) =>
      lines().flatMap((line) => (line.action === action ? [line.object] : []));
    expect(allOf("token_made").slice(1)).toEqual([{}, { subject: "main" }]);
    const ids = { key: expect.stringMatching(/./), former_key: expect.stringMatching(/./) };
    expect(allOf("key_changed")).toEqual([
      ...[
        { ...ids, state: "finished" },
        { ...ids, state: "both_open" },
      ],
      ...[ids, { ...ids, state: "finished" }],
    ]);
    expect(ofAction("memory_backed_up")).toMatchObject({ file: home.path("a.backup"), entries: 1 });
    expect(allOf("memory_forgotten")).toEqual([
      { subject: "main", scope: "key", entries: 0 },
      { subject: "main", scope: "key" },
      { subject: "main", scope: "all", entries: 1 },
    ]);
    expect(ofAction("memory_moved")).toMatchObject({
      from: home.databasePath,
      to: home.path("other.sqlite"),
    });
    const written = readFileSync(path(), "utf8");
    for (const secret of [
      "canary",
      token,
      token.split(".")[1] ?? "",
      readFileSync(home.keyPath, "utf8").trim(),
    ])
      expect(written).not.toContain(secret);
    expect(statSync(path()).mode & 0o777).toBe(0o600);
  });

  it("cannot be made to forge a line", async () => {
    const asked = { env: env() };
    await home.run(["token", "--subject", FORGED], asked);
    await home.run(["backup", home.path(FORGED)], asked);
    expect(told()).toEqual(["token_made refused invalid_input", "memory_backed_up failed store_unavailable"]);
    expect(lines()[1]?.object.file).toEqual(home.path(FORGED));
  });

  it.each<[string, (at: string) => unknown, string]>([
    ["that others may write", (at) => chmodSync(at, 0o666), "is writable for other accounts"],
    ["in a folder that others may write", (at) => chmodSync(dirname(at), 0o777), "is writable for other acc"],
    ["that is a folder", (at) => [rmSync(at), mkdirSync(at)], "is a folder"],
    ["that is a device", (at) => [rmSync(at), symlinkSync("/dev/null", at)], "is not a regular file"],
    ["in a folder that is missing", (at) => rmSync(dirname(at), { recursive: true }), "ENOENT"],
  ])("do nothing with a file %s, and serve does not start", async (_what, change, words) => {
    const asked = { env: env() };
    writeFileSync(path(), "");
    change(path());
    for (const args of [
      ["token", "--subject", "main"],
      ["serve", "--port", "0"],
    ]) {
      const { code, stdout, stderr } = await home.run(args, asked);
      expect([code, stdout, stderr]).toEqual([1, "", expect.stringContaining(words)]);
      expect(stderr).toMatch(/^invalid_input: .*audit/);
    }
    const checked = await home.run(["serve", "--check-config", "--json"], asked);
    expect(JSON.parse(checked.stdout).problems).toMatchObject([{ where: "audit-file" }]);
  });

  it.runIf(process.geteuid?.() === 0)("refused in another account's folder leave no file there", async () => {
    const asked = { env: env() };
    chownSync(dirname(path()), 1_234, 1_234);
    symlinkSync(path(), home.path("link"));
    for (const file of [path(), home.path("link")]) {
      const given = { env: { ...asked.env, HELMDECK_AUDIT_FILE: file } };
      const { code, stderr } = await home.run(["token", "--subject", "main"], given);
      expect([code, stderr]).toEqual([1, expect.stringMatching(/^invalid_input: The audit log /)]);
      if (file === path())
        expect(stderr).toContain(`${dirname(path())} belongs to another account (uid 1234)`);
    }
    expect(readdirSync(dirname(path()))).toEqual([]);
  });

  it("that find a disk full are done, say which line is missing, and leave later lines whole", async () => {
    const asked = env();
    writeFileSync(path(), `${" ".repeat(999)}\n`, { mode: 0o600 });
    const limited = `trap "" XFSZ; ulimit -f 1; exec "$@"`;
    const args = [process.execPath, BUNDLED_COMMAND, "token", "--subject", "main"];
    const child = spawn("bash", ["-c", limited, "bash", ...args], {
      env: { PATH: process.env.PATH, HOME: home.folder, ...asked },
    });
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
    expect(stderr).toMatch(/The audit log .* cannot grow.*missing there: \{"action":"token_made"/);
    await home.run(["token", "--subject", "ben"], { env: asked });
    const [, cut, last = ""] = readFileSync(path(), "utf8").split("\n");
    expect([cut?.length, JSON.parse(last).object.subject]).toEqual([24, "ben"]);
  });

  it("of several processes at once leave whole lines", async () => {
    const asked = env();
    const script = `
      import { openAuditFile, thisUser } from ${JSON.stringify(new URL("../../app/audit-log.ts", import.meta.url))};
      const audit = await openAuditFile({ env: process.env, now: Date.now }, (_event, problem) => { throw new Error(problem); });
      const object = { file: "x".repeat(6_000) };
      const event = { action: "memory_exported", outcome: "done", actor: thisUser(), object };
      for (let round = 0; round < 10; round++) await Promise.all(Array.from({ length: 10 }, () => audit(event)));
    `;
    const ends = [1, 2, 3].map(() =>
      once(
        spawn(process.execPath, ["--input-type=module", "-e", script], {
          env: { PATH: process.env.PATH, ...asked },
          stdio: "inherit",
        }),
        "exit",
      ),
    );
    expect(await Promise.all(ends)).toEqual([1, 2, 3].map(() => [0, null]));
    expect(told()).toEqual(Array(300).fill("memory_exported done"));
  });
});

it("has the actions that the reference lists, and no others", () => {
  const [, section = ""] =
    /## Audit log\n(.*?)\n## /s.exec(readFileSync("docs/reference/serve.md", "utf8")) ?? [];
  const listed = [...section.matchAll(/`((?:engine|[a-z]+s?)_[a-z_]+)`/g)].map(([, name]) => name);
  expect(new Set(listed)).toEqual(new Set(AUDIT_ACTIONS));
});

describe("a server", () => {
  let child: ReturnType<InProcessHome["start"]> | undefined;
  afterEach(() => void child?.kill("SIGKILL"));

  // verifies P-quiet-audit-log, P-quiet-callers
  it("leaves lines of requests, tools, forms, files and signals, with names in the file and hashes in the log", async () => {
    const given = env();
    await home.write("serve.yml", "port: 0\n");
    const key = { HELMDECK_MEMORY_KEY: "0f".repeat(32) };
    child = home.start(["serve", "--config", home.path("serve.yml")], { env: { ...given, ...key } });
    const logged = logOf(child);
    const [started = ""] = await once(createInterface(child.stdout), "line");
    const token = (await home.run(["token", "--subject", "ana"], { env: given })).stdout.trim();
    const visit = visitor(JSON.parse(started).url, token);
    await visit.post("/api/v1/memory/store", { key: "k", value: VALUE });
    await visit.post("/api/v1/memory/search", { query: "canary-question" });
    await visit.post("/api/v1/memory/forget", { scope: VALUE });
    const preview = await visit.post("/api/v1/memory/forget", { scope: "all", dry_run: true });
    const revision = String(((await preview.json()) as { revision: number }).revision);
    await visit.post("/api/v1/memory/forget", { scope: "category:" });
    for (const more of [{ person: 1 }, { dry_run: true, person: 1 }])
      await visit.post("/api/v1/memory/forget", { scope: VALUE, ...more });
    renameSync(path(), `${path()}.1`);
    await visit.callTool("helmdeck__memory_forget", { scope: "packs" });
    await visit.submitForm("/forget", { scope: "category:user_facts", step: "confirm", revision });
    const admin = await home.run(["token", "--subject", "ops", "--scope", "admin"], { env: given });
    const operator = visitor(JSON.parse(started).url, admin.stdout.trim());
    for (const each of [visit, operator]) {
      await each.get("/api/v1/memory/facts?subject=ana");
      await each.get("/api/v1/memory/export?subject=ops");
      await each.get("/api/v1/memory/export?subject=ana");
    }
    await operator.post("/api/v1/memory/forget", { scope: "everything", subject: "ana" });
    await operator.post("/api/v1/memory/forget", {
      scope: "everything",
      subject: "ana",
      up_to: Number(revision),
    });
    writeFileSync(given.HELMDECK_JWT_SECRET_FILE ?? "", `another-${SECRET}\n${SECRET}\n`);
    await home.run(["token", "--revoke", "--subject", "ben"], { env: given });
    await logged.until("revocations_changed", () => visit.post("/api/v1/memory/search", { query: "x" }));
    for (const [settings, outcome] of [
      ["port: 0\nlog-level: debug\nindex-memory: 9\n", "done"],
      ["log-level: loud\n", "refused"],
    ]) {
      await home.write("serve.yml", settings ?? "");
      child.kill("SIGHUP");
      await logged.until(`"action":"settings_changed","outcome":"${outcome}"`);
    }
    renameSync(dirname(path()), `${dirname(path())}.gone`);
    await visit.post("/api/v1/memory/forget", { scope: "all" });
    renameSync(`${dirname(path())}.gone`, dirname(path()));
    child.kill("SIGTERM");
    await once(child, "close");

    const before = linesIn(readFileSync(`${path()}.1`, "utf8"));
    const file = [...before, ...lines()].filter(({ actor }) => actor.kind !== "user");
    expect(
      file.map(({ action, outcome, actor, object: { scope } }) => [action, outcome, actor, scope]),
    ).toEqual([
      ["engine_started", "done", { kind: "process", pid: child.pid }, undefined],
      ["memory_forgotten", "done", { kind: "caller", name: "ana", surface: "rest" }, "key"],
      ["memory_forgotten", "refused", { kind: "caller", name: "ana", surface: "rest" }, undefined],
      ["memory_forgotten", "refused", { kind: "caller", name: "ana", surface: "rest" }, undefined],
      ["memory_forgotten", "done", { kind: "caller", name: "ana", surface: "pack" }, "packs"],
      ["memory_forgotten", "done", { kind: "caller", name: "ana", surface: "pages" }, "category"],
      ["memory_exported", "refused", { kind: "caller", name: "ana", surface: "rest" }, undefined],
      ["memory_read", "done", { kind: "caller", name: "ops", surface: "rest" }, undefined],
      ["memory_exported", "done", { kind: "caller", name: "ops", surface: "rest" }, undefined],
      ["memory_forgotten", "refused", { kind: "caller", name: "ops", surface: "rest" }, undefined],
      ["memory_forgotten", "done", { kind: "caller", name: "ops", surface: "rest" }, "everything"],
      ["secrets_changed", "done", { kind: "process", pid: child.pid }, undefined],
      ["revocations_changed", "done", { kind: "process", pid: child.pid }, undefined],
      ["settings_changed", "done", { kind: "process", pid: child.pid, signal: "SIGHUP" }, undefined],
      ["settings_changed", "refused", { kind: "process", pid: child.pid, signal: "SIGHUP" }, undefined],
      ["engine_stopped", "done", { kind: "process", pid: child.pid, signal: "SIGTERM" }, undefined],
    ]);
    const engine = { address: new URL(JSON.parse(started).url).host, version: expect.stringMatching(/^\d/) };
    expect(file.map(({ object }) => object).filter((object) => !("subject" in object))).toEqual([
      ...[engine, { secrets: 2 }, { added: 1 }],
      ...[{ settings: ["log-level"], need_restart: ["index-memory"] }, {}, engine],
    ]);
    const ofOperator = file.filter(({ actor }) => actor.name === "ops");
    expect(ofOperator.map(({ object }) => object.subject)).toEqual(Array(4).fill("ana"));
    const log = logged.lines();
    const missing = log.filter(({ msg }) => msg === "a line of the audit log is not in its file");
    expect(missing).toMatchObject([
      { level: "error", action: "memory_forgotten", problem: expect.stringMatching(/ENOENT/) },
    ]);
    const audit = log.filter(({ msg }) => msg === "audit");
    expect(audit.map(({ action }) => action)).toEqual(
      file.map(({ action }) => action).toSpliced(-1, 0, "memory_forgotten"),
    );
    expect(audit[1]?.actor.name).toMatch(/^[0-9a-f]{16}$/);
    expect(audit[1]?.object.subject).toBe(audit[1]?.actor.name);
    expect(JSON.stringify(log)).not.toMatch(/\bana\b|\bben\b|\bops\b/);
    const written = JSON.stringify([log, before, lines()]);
    for (const secret of ["canary", token, "0f0f0f"]) expect(written).not.toContain(secret);
  });

  it("that cannot start, or is stopped by a second signal, says so in its line", async () => {
    const asked = env();
    child = home.start(["serve", "--port", "0", "--drain-seconds", "600"], { env: asked });
    const logged = logOf(child);
    const [started = ""] = await once(createInterface(child.stdout), "line");
    await logged.until("engine_started");
    const { port, host } = new URL(JSON.parse(started).url);
    expect((await home.run(["serve", "--port", port], { env: asked })).code).toBe(1);
    const key = { HELMDECK_MEMORY_KEY: "malformed" };
    await home.run(["serve", "--port", "0", "--require-memory"], { env: { ...asked, ...key } });
    child.kill("SIGTERM");
    await logged.until("draining");
    child.kill("SIGTERM");
    expect(await once(child, "close")).toEqual([null, "SIGTERM"]);
    expect(told()).toEqual([
      ...["engine_started done", "engine_started refused invalid_input"],
      ...["engine_started failed memory_unavailable", "engine_stopped done"],
    ]);
    const addresses = lines().map(({ object: { address } }) => address);
    expect(addresses).toEqual([host, host, "127.0.0.1:0", host]);
  });
});

/** Parses each line as it comes: all of them are JSON. */
function logOf({ stderr }: ReturnType<InProcessHome["start"]>) {
  const parsed: (Line & { readonly msg: string; readonly level: string })[] = [];
  const news = new EventEmitter();
  createInterface(stderr).on("line", (line) => {
    parsed.push(JSON.parse(line));
    news.emit("line");
  });
  const until = async (words: string, ask: () => Promise<unknown> = async () => {}): Promise<void> => {
    while (!parsed.some((line) => JSON.stringify(line).includes(words))) {
      const next = once(news, "line");
      await ask();
      await next;
    }
  };
  return { lines: () => parsed, until };
}

/** One caller at every door of a server. */
function visitor(url: string, token: string) {
  const accept = { Accept: "application/json, text/event-stream", "Content-Type": "application/json" };
  const post = (to: string, body: unknown, more: Record<string, string> = {}) =>
    fetch(`${url}${to}`, {
      ...{ method: "POST", body: JSON.stringify(body) },
      headers: { Authorization: `Bearer ${token}`, ...accept, ...more },
    });
  const callTool = async (name: string, given: object): Promise<void> => {
    const version = { protocolVersion: "2025-06-18" };
    const params = { ...version, capabilities: {}, clientInfo: { name: "t", version: "1" } };
    const hello = await post("/api/v1/mcp", { jsonrpc: "2.0", id: 1, method: "initialize", params });
    const session = { "Mcp-Session-Id": hello.headers.get("mcp-session-id") ?? "" };
    const call = { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name, arguments: given } };
    expect(await (await post("/api/v1/mcp", call, session)).text()).toContain("deleted");
  };
  const submitForm = async (to: string, fields: Record<string, string>): Promise<void> => {
    const site = { Origin: url, "Sec-Fetch-Site": "same-origin", Accept: "text/html" };
    const form = (at: string, body: Record<string, string>, Cookie = "") =>
      fetch(`${url}${at}`, {
        ...{ method: "POST", redirect: "manual", headers: { ...site, Cookie } },
        body: new URLSearchParams(body),
      });
    const [cookie = ""] = (await form("/sign-in", { token })).headers.getSetCookie();
    const [, form_token = ""] =
      /name="form_token" value="([^"]+)"/.exec(
        await (await fetch(`${url}/`, { headers: { ...site, Cookie: cookie } })).text(),
      ) ?? [];
    const sent = await form(to, { ...fields, form_token }, cookie);
    expect(sent.status).toBe(303);
  };
  const get = (from: string) => fetch(`${url}${from}`, { headers: { Authorization: `Bearer ${token}` } });
  return { get, post, callTool, submitForm };
}
