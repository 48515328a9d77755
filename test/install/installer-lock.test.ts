/** Only one installer runs at a time: a second one names the running one, and a killed one releases the lock. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { acquireInstallerLock, installerLockFile } from "../../install/installer-lock.ts";
import { testFolder } from "./fixtures.ts";

const RACERS = 4;

let folder: string;
let file: string;
let started: ChildProcess[];

beforeEach(() => {
  folder = testFolder();
  file = installerLockFile(join(folder, "state", "install"));
  started = [];
});
afterEach(() => {
  for (const child of started) child.kill("SIGKILL");
});

describe("the lock", () => {
  it("has one holder at a time, and names the holder's process", async () => {
    const child = await holder();
    expect(acquireInstallerLock(file)).toEqual({ isAcquired: false, holder: child.pid });
  });

  it("stays taken when its object is garbage-collected", async () => {
    const child = await holder(["--expose-gc"]);
    expect(await answered(child, "collect")).toBe("collected");
    expect(acquireInstallerLock(file)).toEqual({ isAcquired: false, holder: child.pid });
  });

  it("is free as soon as its holder is killed or releases it", async () => {
    const child = await holder();
    child.kill("SIGKILL");
    await once(child, "exit");
    const lock = acquireInstallerLock(file);
    if (!lock.isAcquired) throw new Error("the dead holder still has the lock");
    lock.release();
    expect(acquireInstallerLock(file)).toMatchObject({ isAcquired: true });
  });

  it("goes to exactly one of many processes that ask at once", async () => {
    const said = await Promise.all(Array.from({ length: RACERS }, () => saidBy(spawned(HOLDS))));
    expect(said.filter((word) => word === "ours")).toEqual(["ours"]);
    expect(said.filter((word) => word === "theirs")).toHaveLength(RACERS - 1);
  });

  it("is readable by its own account only", () => {
    const before = process.umask(0o000);
    try {
      acquireInstallerLock(file);
    } finally {
      process.umask(before);
    }
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(join(file, "..")).mode & 0o777).toBe(0o700);
  });

  it("fails with a reason if the file is not a lock", () => {
    mkdirSync(join(folder, "state"));
    writeFileSync(file, "this is no lock, and longer than a header of it would be\n".repeat(20));
    expect(() => acquireInstallerLock(file)).toThrow(/install\.lock cannot be used.*move it away/);
  });
});

describe("install.sh while another one runs", () => {
  it("names the running one, changes nothing and exits with 2; a dry run is allowed", async () => {
    const first = spawned(INSTALLS, ["--no-embeddings", "--yes"]);
    const firstEnd = ended(first);
    await untilThere(join(folder, "waiting"));
    const second = await ended(spawned(INSTALLS, ["--no-embeddings", "--yes", "--json"]));
    expect(second.code).toBe(2);
    expect(JSON.parse(second.text)).toMatchObject({
      exitCode: 2,
      steps: [],
      missing: [{ what: "turn", message: expect.stringContaining(`process ${first.pid}`) }],
    });
    const dry = ended(spawned(INSTALLS, ["--no-embeddings", "--dry-run", "--json"]));
    writeFileSync(join(folder, "go-on"), "");
    expect(JSON.parse((await dry).text).missing).toMatchObject([{ what: "openclaw" }]);
    expect((await firstEnd).text).toContain("OpenClaw is not on this machine");
  });

  it("exits with 2 and the reason if the lock cannot be created", async () => {
    writeFileSync(join(folder, "xdg"), "a file where a folder should be");
    const { code, text } = await ended(spawned(INSTALLS, ["--no-embeddings", "--yes", "--json"]));
    expect(code).toBe(2);
    expect(JSON.parse(text).error).toMatch(/install\.lock cannot be used/);
  });
});

const module = (name: string) => JSON.stringify(join(import.meta.dirname, "..", "..", "install", name));
const HOLDS = `
  import { acquireInstallerLock } from ${module("installer-lock.ts")};
  const lock = acquireInstallerLock(process.env.LOCK);
  console.log(lock.isAcquired ? "ours" : "theirs");
  if (!lock.isAcquired) process.exit();
  process.stdin.on("data", () => {
    gc();
    setTimeout(() => (gc(), console.log("collected")), 10);
  });
`;
const INSTALLS = `
  import { install } from ${module("installer.ts")};
  process.exitCode = await install(process.argv.slice(1), process.env.ROOT);
`;

async function holder(flags: readonly string[] = []): Promise<ChildProcess> {
  const child = spawned(HOLDS, [], flags);
  expect(await saidBy(child)).toBe("ours");
  return child;
}

/** Runs in a home of its own, with a package of one file and an `openclaw` that waits for a signal and then fails. */
function spawned(program: string, args: readonly string[] = [], flags: readonly string[] = []): ChildProcess {
  const bin = join(folder, "bin");
  if (!existsSync(bin)) {
    mkdirSync(bin);
    const waits = `touch "${folder}/waiting"; while [ ! -e "${folder}/go-on" ]; do sleep 0.05; done; exit 1`;
    writeFileSync(join(bin, "openclaw"), `#!/bin/sh\n${waits}\n`, { mode: 0o755 });
    writeFileSync(join(bin, "docker"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
    for (const plugin of ["plugin", "notes-plugin"]) {
      mkdirSync(join(folder, "dist", plugin), { recursive: true });
      writeFileSync(join(folder, "dist", plugin, "openclaw.plugin.json"), "{}");
    }
  }
  const env = {
    PATH: `${bin}:/usr/bin:/bin`,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? "",
    ...{ HOME: folder, XDG_STATE_HOME: join(folder, "xdg"), LOCK: file, ROOT: folder },
  };
  const child = spawn(process.execPath, [...flags, "--input-type=module", "-e", program, "--", ...args], {
    env,
    stdio: ["pipe", "pipe", "inherit"],
  });
  started.push(child);
  return child;
}

async function answered(child: ChildProcess, question: string): Promise<string> {
  child.stdin?.write(question);
  return saidBy(child);
}

async function saidBy(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error("no standard output");
  const [chunk] = await once(child.stdout, "data");
  return String(chunk).trim();
}

async function ended(child: ChildProcess): Promise<{ readonly code: number | null; readonly text: string }> {
  let text = "";
  for await (const chunk of child.stdout ?? []) text += String(chunk);
  if (child.exitCode === null) await once(child, "exit");
  return { code: child.exitCode, text };
}

async function untilThere(name: string): Promise<void> {
  await expect.poll(() => existsSync(name)).toBe(true);
}
