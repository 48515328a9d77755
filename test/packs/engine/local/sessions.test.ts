/** Sessions on this machine with real programs: their folders, the environment that they inherit, and that nothing of them remains. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, readdir, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { HelmdeckError } from "../../../../engine/errors.ts";
import type { Session, SessionProvider, SessionRequest } from "../../../../packs/engine/pack-contract.ts";
import {
  homeOf,
  type LocalSessionsOptions,
  openLocalSessions,
} from "../../../../packs/local/local-sessions.ts";
import { processesAtHome } from "../../../../packs/local/process-runner.ts";
import { fileIn, tempFolder } from "./folders.ts";

const node = process.execPath;

async function open(options: Partial<LocalSessionsOptions> = {}): Promise<SessionProvider> {
  const root = options.root ?? (await tempFolder());
  const sessions = await openLocalSessions({ root, ...options });
  onTestFinished(() => sessions.close());
  return sessions;
}

function request(more: Partial<SessionRequest> = {}): SessionRequest {
  return { caller: "alice", pack: "test.pack", signal: new AbortController().signal, ...more };
}

/** Runs JavaScript in the session. */
const js = (session: Session, source: string, options?: Parameters<Session["run"]>[2]) =>
  session.run(node, ["-e", source], options);

/** A timer that fires only when the test calls it. */
function handTimer() {
  const waiting = new Set<() => void>();
  const timer = (callback: () => void) => {
    waiting.add(callback);
    return () => void waiting.delete(callback);
  };
  return { timer, ring: () => Array.from(waiting, (callback) => callback()) };
}

describe("a program in a session", () => {
  it("works in the session's folder, which no other account can read", async () => {
    const session = await (await open()).acquire(request());
    const { stdout, exitCode } = await js(session, "process.stdout.write(process.cwd())");
    expect({ stdout, exitCode }).toEqual({ stdout: session.folder, exitCode: 0 });
    expect((await stat(session.folder)).mode & 0o777).toBe(0o700);
  });

  it("inherits nothing but PATH, LANG, and the session's HOME and TMPDIR", async () => {
    process.env.HELMDECK_TEST_CANARY = "not for programs";
    onTestFinished(() => {
      delete process.env.HELMDECK_TEST_CANARY;
    });
    const session = await (await open({ env: { PATH: process.env.PATH, LANG: "C.UTF-8", X: "no" } })).acquire(
      request(),
    );
    const { stdout } = await session.run("/usr/bin/env", [], { env: { GIVEN: "yes", HOME: "/elsewhere" } });
    expect(stdout.trim().split("\n").sort()).toEqual(
      [
        "GIVEN=yes",
        `HOME=${join(session.folder, ".home")}`,
        "LANG=C.UTF-8",
        `PATH=${process.env.PATH}`,
        `TMPDIR=${join(session.folder, ".tmp")}`,
      ].sort(),
    );
  });

  it("gets its arguments unchanged, without a shell", async () => {
    const session = await (await open()).acquire(request());
    const args = ["$(touch made)", "; touch made", "`touch made`", "a b", "*"];
    const { stdout } = await session.run(node, [
      "-p",
      "JSON.stringify(process.argv.slice(1))",
      "--",
      ...args,
    ]);
    expect(JSON.parse(stdout)).toEqual(args);
    expect(await readdir(session.folder)).not.toContain("made");
  });

  it("returns its exit code, its signal and its output, and reads its input", async () => {
    const session = await (await open()).acquire(request());
    const failed = await js(session, "process.stdin.pipe(process.stderr); process.exitCode = 3", {
      input: "in",
    });
    expect(failed).toEqual({ exitCode: 3, signal: undefined, stdout: "", stderr: "in", truncated: false });
    const killed = await js(session, "process.kill(process.pid, 'SIGTERM'); setInterval(() => {}, 9)");
    expect(killed).toMatchObject({ exitCode: undefined, signal: "SIGTERM" });
  });

  it("may write more than is kept, and the result is then marked as truncated", async () => {
    const session = await (await open()).acquire(request());
    const source =
      "const b = Buffer.alloc(65536, 97); for (let i = 0; i < 64; i++) require('fs').writeSync(1, b)";
    const { stdout, exitCode, truncated } = await js(session, source);
    expect({ size: stdout.length, exitCode, truncated }).toEqual({
      size: 1_048_576,
      exitCode: 0,
      truncated: true,
    });
  });

  it("is named without its arguments if it does not exist", async () => {
    const session = await (await open()).acquire(request());
    const failure = await session.run("no-such-program", ["secret"]).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "pack_failed" });
    expect(String(failure)).toMatch(/no-such-program/);
    expect(String(failure)).not.toMatch(/secret/);
  });
});

describe("cwd", () => {
  it.each(["..", "/", "a/../..", "out", "out/deep", "missing", "file", "a\0b", "loop"])(
    "refuses %j",
    async (cwd) => {
      const sessions = await open();
      const session = await sessions.acquire(request());
      const outside = await tempFolder();
      await mkdir(join(outside, "deep"));
      await symlink(outside, join(session.folder, "out"));
      await symlink("loop", join(session.folder, "loop"));
      await writeFile(join(outside, "file"), "");
      await expect(js(session, "", { cwd })).rejects.toMatchObject({
        code: "invalid_input",
        details: { field: "cwd" },
      });
    },
  );

  it("refuses a neighbouring folder with the session's name as its prefix", async () => {
    const session = await (await open()).acquire(request());
    await mkdir(`${session.folder}-neighbour`);
    await expect(js(session, "", { cwd: `${session.folder}-neighbour` })).rejects.toMatchObject({
      code: "invalid_input",
    });
  });

  it("may be a subfolder, also through a link inside the session", async () => {
    const session = await (await open()).acquire(request());
    await mkdir(join(session.folder, "below"));
    await symlink("below", join(session.folder, "link"));
    const { stdout } = await js(session, "process.stdout.write(process.cwd())", { cwd: "link" });
    expect(stdout).toBe(join(session.folder, "below"));
  });
});

describe("a child process of a program", () => {
  const family = `
    const { spawn } = require("child_process");
    process.on("SIGTERM", () => {});
    const child = spawn(process.execPath, ["-e", "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)"], { stdio: "inherit" });
    require("fs").writeFileSync("family.tmp", "x");
    require("fs").renameSync("family.tmp", "family");
    setInterval(() => {}, 1000);`;
  /** Leaves the process group for a session of its own, like a daemon, and ends. */
  const daemon = `
    require("child_process").spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { detached: true, stdio: "ignore" }).unref();`;

  it("ends when the run is cancelled, even if it ignores SIGTERM", async () => {
    const caller = new AbortController();
    const session = await (await open()).acquire(request({ signal: caller.signal }));
    const running = js(session, family);
    const outcome = expect(running).rejects.toMatchObject({ code: "cancelled" });
    await fileIn(session.folder, "family");
    caller.abort();
    await outcome;
    expect(await processesAtHome(homeOf(session.folder))).toEqual([]);
  });

  it("ends at the deadline", async () => {
    const session = await (await open()).acquire(request());
    await expect(js(session, family, { deadlineMs: 400 })).rejects.toMatchObject({
      code: "deadline_exceeded",
    });
    expect(await processesAtHome(homeOf(session.folder))).toEqual([]);
  });

  it("ends with the program if it runs in the background, and does not delay the answer", async () => {
    const session = await (await open()).acquire(request());
    const { exitCode } = await session.run("/bin/sh", ["-c", "sleep 600 & echo started"]);
    expect(exitCode).toBe(0);
    expect(await processesAtHome(homeOf(session.folder))).toEqual([]);
  });

  it("ends with the session if it is a daemon", async () => {
    const sessions = await open();
    const session = await sessions.acquire(request());
    await js(session, daemon);
    expect(await processesAtHome(homeOf(session.folder))).toHaveLength(1);
    await sessions.release(session);
    expect(await processesAtHome(homeOf(session.folder))).toEqual([]);
  });

  it("ends by release and by close while the program still runs", async () => {
    const sessions = await open();
    for (const end of [(session: Session) => sessions.release(session), () => sessions.close()]) {
      const session = await sessions.acquire(request());
      const running = js(session, family).catch((error: unknown) => error);
      await fileIn(session.folder, "family");
      await end(session);
      expect(await running).toBeInstanceOf(HelmdeckError);
      expect(await processesAtHome(homeOf(session.folder))).toEqual([]);
    }
  });

  it("of a killed server ends at the next start, and its folder is removed", async () => {
    const root = await tempFolder();
    const owner = spawn(node, [join(import.meta.dirname, "owner.ts"), root], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void owner.kill("SIGKILL"));
    const [line] = await once(owner.stdout, "data");
    const folder = String(line).trim();
    await (await open({ root })).close();
    expect(await readdir(folder)).toContain("pid");

    owner.kill("SIGKILL");
    await once(owner, "exit");
    expect(await processesAtHome(homeOf(folder))).toHaveLength(1);
    await open({ root });
    await expect(readdir(folder)).rejects.toMatchObject({ code: "ENOENT" });
    expect(await processesAtHome(homeOf(folder))).toEqual([]);
  });
});

describe("a session", () => {
  it("deletes its folder when it ends, with read-only folders and links in it", async () => {
    const root = await tempFolder();
    const outside = await tempFolder();
    await writeFile(join(outside, "kept"), "");
    const sessions = await open({ root });
    const session = await sessions.acquire(request());
    await mkdir(join(session.folder, "readonly", "deep"), { recursive: true });
    await symlink(outside, join(session.folder, "readonly", "out"));
    await chmod(join(session.folder, "readonly"), 0o500);
    await sessions.release(session);
    await expect(readdir(session.folder)).rejects.toMatchObject({ code: "ENOENT" });
    expect(await readdir(outside)).toEqual(["kept"]);
    await expect(session.run(node, ["-v"])).rejects.toMatchObject({ code: "session_unavailable" });
    await sessions.close();
    expect(await readdir(root)).toEqual([]);
  });

  it("has an id that cannot be guessed", async () => {
    const sessions = await open();
    const ids = await Promise.all([1, 2, 3].map(async () => (await sessions.acquire(request())).id));
    expect(new Set(ids).size).toBe(3);
    for (const id of ids) expect(id).toMatch(/^ses_[0-9a-f]{32}$/);
  });

  it("is refused above the limit, also if many are requested at once", async () => {
    const sessions = await open({ most: 2 });
    const asked = await Promise.allSettled([1, 2, 3, 4].map(() => sessions.acquire(request())));
    expect(asked.map(({ status }) => status).sort()).toEqual([
      "fulfilled",
      "fulfilled",
      "rejected",
      "rejected",
    ]);
    const refused = asked.find(({ status }) => status === "rejected");
    expect(refused).toMatchObject({ reason: { code: "session_unavailable", details: { most: 2 } } });
  });

  it("is granted to a caller without one even if others hold all of them", async () => {
    const sessions = await open({ most: 2 });
    for (let n = 0; n < 2; n += 1) await sessions.acquire(request({ caller: "bob" }));
    await sessions.acquire(request({ caller: "alice" }));
    for (const caller of ["alice", "bob"])
      await expect(sessions.acquire(request({ caller }))).rejects.toMatchObject({
        code: "session_unavailable",
      });
  });

  it("is refused when the server is closing", async () => {
    const sessions = await open();
    await sessions.close();
    await expect(sessions.acquire(request())).rejects.toMatchObject({ code: "session_unavailable" });
  });
});

describe("a kept session", () => {
  it("continues where it was for its own caller, and does not exist for others", async () => {
    const sessions = await open({ keepMs: 60_000, timer: handTimer().timer });
    const first = await sessions.acquire(request());
    await writeFile(join(first.folder, "note"), "here");
    await sessions.release(first);

    const asBob = sessions.acquire(request({ caller: "bob", sessionId: first.id }));
    const unknown = sessions.acquire(request({ sessionId: "ses_0" }));
    const refusals = await Promise.all([asBob, unknown].map((each) => each.catch((error: unknown) => error)));
    expect(refusals[0]).toMatchObject({ code: "not_found" });
    expect(String(refusals[0])).toBe(String(refusals[1]));

    const again = await sessions.acquire(request({ sessionId: first.id }));
    const { stdout } = await js(again, "process.stdout.write(require('fs').readFileSync('note'))");
    expect(stdout).toBe("here");
    await expect(sessions.acquire(request({ sessionId: first.id }))).rejects.toMatchObject({
      code: "session_unavailable",
    });
  });

  it("is never removed for another caller's run", async () => {
    const sessions = await open({ keepMs: 60_000, most: 2, timer: handTimer().timer });
    const kept = await sessions.acquire(request());
    await sessions.release(kept);
    const others = await Promise.allSettled(
      [1, 2, 3, 4].map(() => sessions.acquire(request({ caller: "bob" }))),
    );
    expect(others.filter(({ status }) => status === "fulfilled").length).toBeGreaterThan(0);
    expect((await sessions.acquire(request({ sessionId: kept.id }))).id).toBe(kept.id);
  });

  it("ends after its time, or earlier if its caller needs the room", async () => {
    const { timer, ring } = handTimer();
    const sessions = await open({ keepMs: 60_000, most: 1, timer });
    const first = await sessions.acquire(request());
    await sessions.release(first);
    const second = await sessions.acquire(request());
    await expect(readdir(first.folder)).rejects.toMatchObject({ code: "ENOENT" });
    await sessions.release(second);
    ring();
    await expect(sessions.acquire(request({ sessionId: second.id }))).rejects.toMatchObject({
      code: "not_found",
    });
  });
});
