/** `swe.solve` with real git over https, a real command and real sessions: its inputs, the files that it leaves, and refused requests. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { notesKey, type SolveOptions, solvePack } from "../../../packs/shipped/solve.ts";
import { tempFolder } from "../../app/fixtures/memories.ts";
import { fileIn } from "../engine/local/folders.ts";
import { ANA, ask, failureOf, openPackRig } from "../engine/rig.ts";
import { startGitServer } from "./git-server.ts";
import { startGitHub } from "./github-server.ts";

const coder = (script: string): readonly string[] => [
  process.execPath,
  join(import.meta.dirname, "coder.mjs"),
  script,
];

type Output = Record<"commit" | "summary" | "patch", string> & { readonly findings: readonly object[] };

/** The failure of a run with these options and this input, without a server. */
const failureWith = async (options: SolveOptions, input: object) =>
  failureOf((await openPackRig([solvePack(options)])).engine.run(ask("swe.solve", { task: "x", ...input })));

async function rig(script: string, options: Partial<SolveOptions> = {}) {
  const server = await startGitServer(await tempFolder());
  const address = await server.add("hello", { "README.md": "Hello\n" });
  const packRig = await openPackRig([
    solvePack({ command: coder(script), caFile: server.caFile, ...options }),
  ]);
  const request = (input: object = {}) => ask("swe.solve", { repo_url: address, task: "Greet", ...input });
  const solve = async (input: object = {}, more: object = {}) => {
    const run = await packRig.engine.run({ ...request(input), ...more });
    return run.output as Output; // the engine checked it against the pack's schema
  };
  const patchOf = async ({ patch }: Output) => {
    const found = await packRig.artifacts.get(ANA, patch);
    return Buffer.from(found?.content ?? []).toString();
  };
  return { server, address, packRig, solve, patchOf, failure: (input?: object) => failureOf(solve(input)) };
}

describe("the answer of a run", () => {
  it("has the changes as a patch: edited, new, deleted and committed files, but not ignored ones", async () => {
    const { solve, patchOf, server } = await rig(`
      write("README.md", "Hello, world\\n"); write("new.txt", "new\\n"); write(".gitignore", "ignored\\n"); write("ignored", "x");
      require = process.getBuiltinModule("module").createRequire("/");
      require("child_process").execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@example.org", "commit", "-qam", "mine"]);
      process.stdout.write("Greeted the world.");`);
    const output = await solve();
    expect(output).toEqual({
      repo_url: expect.stringContaining("/hello/.git"),
      commit: await server.git("hello", "rev-parse", "HEAD"),
      files_changed: 3,
      patch: expect.stringMatching(/^art_/),
      summary: "Greeted the world.",
      findings: [],
      notes_recalled: false,
    });
    const patch = await patchOf(output);
    expect(patch).toContain("-Hello\n+Hello, world\n");
    expect(patch).toContain("+++ b/new.txt");
    expect(patch).not.toContain("b/ignored");
  });

  it("has no patch if nothing changed", async () => {
    const { solve } = await rig("");
    const output = await solve();
    expect(output).toMatchObject({ files_changed: 0 });
    expect(output.patch).toBeUndefined();
  });

  it("has the findings that the command wrote, as has the audit row", async () => {
    const { solve, packRig } = await rig(
      `write(env.HELMDECK_FINDINGS_OUT, JSON.stringify([{ code: "unused", severity: "low", file: "README.md" }]))`,
    );
    const findings = [{ code: "unused", severity: "low", file: "README.md" }];
    expect((await solve()).findings).toEqual(findings);
    expect(await packRig.rows()).toMatchObject([{ pack: "swe.solve", outcome: "ok", findings }]);
  });

  it("has its findings in the audit row also if the command fails", async () => {
    const { failure, packRig } = await rig(
      `write(env.HELMDECK_FINDINGS_OUT, JSON.stringify([{ code: "broken", severity: "" }])); process.exit(3);`,
    );
    expect(await failure()).toMatchObject({ code: "pack_failed", details: { exitCode: 3 } });
    expect(await packRig.rows()).toMatchObject([
      { outcome: "pack_failed", findings: [{ code: "broken", severity: "" }] },
    ]);
  });

  it.each([
    ["malformed", "write(env.HELMDECK_FINDINGS_OUT, '[{')"],
    ["of another shape", "write(env.HELMDECK_FINDINGS_OUT, '{}')"],
    ["too long", "write(env.HELMDECK_FINDINGS_OUT, '[' + ' '.repeat(100000) + ']')"],
  ])("reports findings that are %s, and keeps the patch", async (_how, script) => {
    const { solve } = await rig(`write("new", "x"); ${script}`);
    expect(await solve()).toMatchObject({
      files_changed: 1,
      findings: [{ code: "findings_unreadable", severity: "warning" }],
    });
  });

  it("uses the requested branch", async () => {
    const { solve, server, failure } = await rig("");
    await server.git("hello", "checkout", "-q", "-b", "feature/x");
    await server.git("hello", "commit", "-q", "--allow-empty", "-m", "second");
    const tip = await server.git("hello", "rev-parse", "HEAD");
    await server.git("hello", "checkout", "-q", "main");
    expect((await solve({ ref: "feature/x" })).commit).toBe(tip);
    expect((await solve()).commit).not.toBe(tip);
    expect(await failure({ ref: "no-such" })).toMatchObject({ code: "not_found", details: { field: "ref" } });
  });
});

describe("helmdeck's fault 11: the notes of a run are recalled by the next one", () => {
  const script = `
    if (prompt.includes("Use tabs here")) process.stdout.write("recalled");
    write(env.HELMDECK_NOTES_OUT, "Use tabs here.");`;

  it("although each run has its own session", async () => {
    const { solve, packRig, address } = await rig(script);
    expect(await solve()).toMatchObject({ summary: "", notes_recalled: false });
    expect(await solve({ task: "Again" })).toMatchObject({ summary: "recalled", notes_recalled: true });
    const [note, ...others] = await packRig.entries("pack");
    expect(others).toEqual([]);
    expect(note).toMatchObject({ key: notesKey(address), category: "solve" });
    expect(notesKey("https://example.org/a")).toMatch(/^swe\.solve\/[0-9a-f]{16}\/notes$/);
    expect((note?.expiresAt ?? 0) - packRig.clock.time).toBe(2_592_000_000);
  });

  it("only for the same caller and repository", async () => {
    const { solve, server } = await rig(script);
    await solve();
    expect(await solve({}, { caller: "ben" })).toMatchObject({ notes_recalled: false });
    expect(await solve({ repo_url: await server.add("other", {}) })).toMatchObject({ notes_recalled: false });
  });

  it("within a size limit, without the oldest notes", async () => {
    const { solve, packRig } = await rig(`write(env.HELMDECK_NOTES_OUT, "x".repeat(20000))`);
    for (const task of ["one", "two", "three", "four", "five"]) await solve({ task });
    const value = Buffer.from((await packRig.entries("pack"))[0]?.value ?? []).toString();
    expect(value.length).toBeLessThanOrEqual(32_768);
    expect(value).toContain("Task: five");
    expect(value).not.toContain("Task: one");
  });
});

describe("the command", () => {
  afterEach(() => {
    delete process.env.HELMDECK_TEST_CANARY;
  });

  it("gets the task and the notes by its standard input, and not in its arguments or files", async () => {
    const look = `
      const { readdirSync, readFileSync, statSync } = process.getBuiltinModule("fs");
      const session = require("path").dirname(require("path").dirname(process.cwd()));
      const files = readdirSync(session, { recursive: true }).map((name) => session + "/" + name).filter((path) => statSync(path).isFile());
      const seen = [...process.argv, ...Object.values(env), ...files.map((path) => readFileSync(path, "latin1"))].join("\\n");`;
    const { solve } = await rig(`
      require = process.getBuiltinModule("module").createRequire("/");
      ${look}
      process.stdout.write(JSON.stringify({ task: prompt.includes("the-secret-" + "plan"), notes: prompt.includes("canary-" + "note"),
        leaked: seen.includes("the-secret-" + "plan") || seen.includes("canary-" + "note") }));
      write(env.HELMDECK_NOTES_OUT, "canary-" + "note");`);
    const task = "the-secret-plan";
    await solve({ task });
    expect(JSON.parse((await solve({ task })).summary)).toEqual({ task: true, notes: true, leaked: false });
  });

  it("gets only those variables that the operator named", async () => {
    process.env.HELMDECK_TEST_CANARY = "of the server";
    const { solve } = await rig("process.stdout.write(JSON.stringify(Object.keys(env).sort()))", {
      env: { MODEL_KEY: "given" },
    });
    const mine = "HELMDECK_FINDINGS_OUT HELMDECK_NOTES_OUT HOME LANG MODEL_KEY PATH TMPDIR";
    const names: string[] = JSON.parse((await solve()).summary);
    expect(names.filter((name) => name !== "__CF_USER_TEXT_ENCODING").join(" ")).toBe(mine);
  });
});

describe("a faulty command", () => {
  it.each([
    ["that fails with an exit code", "process.exitCode = 3", /exit code 3/],
    ["that ends by a signal", 'process.kill(process.pid, "SIGKILL")', /SIGKILL/],
  ])("%s is reported without its output, and leaves no artifact", async (_how, script, words) => {
    const said = 'process.stdout.write("canary"); process.stderr.write("canary");';
    const { failure, packRig } = await rig(`${said} ${script}`);
    const error = await failure();
    expect(error).toMatchObject({ code: "pack_failed", message: expect.stringMatching(words) });
    expect(error.message).not.toContain("canary");
    expect(await packRig.rows()).toMatchObject([{ outcome: "pack_failed" }]);
  });

  it("that is not configured is reported with the variable to set", async () => {
    const failure = await failureWith({}, { repo_url: "https://example.org/a/b" });
    expect(failure).toMatchObject({ code: "pack_failed", message: /HELMDECK_SOLVE_COMMAND/ });
  });

  it("that writes links instead of its files does not get them followed", async () => {
    const { solve } = await rig(`
      const { symlinkSync } = process.getBuiltinModule("fs");
      symlinkSync("/etc/hosts", env.HELMDECK_NOTES_OUT); symlinkSync("/etc/hosts", env.HELMDECK_FINDINGS_OUT);`);
    expect(await solve()).toMatchObject({ findings: [] });
  });
});

it("a caller who leaves ends the command, even if it ignores SIGTERM", async () => {
  const marks = await tempFolder();
  const { packRig, solve } = await rig(`
    process.on("SIGTERM", () => {});
    write(${JSON.stringify(marks)} + "/pid", String(process.pid));
    setInterval(() => {}, 1000);`);
  const leaving = new AbortController();
  const started = fileIn(marks, "pid");
  const running = failureOf(solve({}, { signal: leaving.signal }));
  const pid = Number(await started);
  leaving.abort();
  expect(await running).toMatchObject({ code: "cancelled" });
  await packRig.sessions.close();
  expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  expect(await packRig.rows()).toMatchObject([{ pack: "swe.solve", outcome: "cancelled" }]);
});

it("requires a token", async () => {
  const { solve, server } = await rig("");
  expect(await failureOf(solve({}, { authenticated: false }))).toMatchObject({ code: "forbidden" });
  expect(server.asked).toEqual([]);
});

describe("a repository's address", () => {
  const OTHER_SCHEMES = [
    "http://127.0.0.1/a",
    "git://127.0.0.1/a",
    "ssh://git@127.0.0.1/a",
    "git@127.0.0.1:a/b",
  ];
  const PATHS = [
    "file:///etc",
    "/etc",
    "../a",
    "ext::sh -c touch% /tmp/made",
    "https::http://127.0.0.1/a",
    "fd::17/a",
  ];
  const OPTIONS = [
    "-uhttps://127.0.0.1/a",
    "--upload-pack=touch made",
    "--config=core.sshCommand=x https://127.0.0.1/a",
  ];
  const WITHIN = [
    "user@127.0.0.1/a",
    "user:password@127.0.0.1/a",
    "127.0.0.1\\@example.org/a",
    "127.0.0.1/a?x=1",
  ]
    .concat("127.0.0.1/a#x", "127.0.0.1/a b", "127.0.0.1/a\nhost=b", "127.0.0.1/a%0ahost=b", "127.0.0.1/a%00")
    .concat("127.0.0.1", "-oProxyCommand=x/a", "/a", "127.0.0.1/\u202ea")
    .map((rest) => `https://${rest}`);
  const NOT_HTTPS = [...OTHER_SCHEMES, ...PATHS, ...OPTIONS, ...WITHIN].concat(
    " https://127.0.0.1/a",
    "HTTPS://127.0.0.1/a",
    "",
  );
  const NO_BRANCH = ["", "a b", "a\nb", ..."-b --help a..b @{u} a@{1} a/.b a.lock a/ a:b a~1 a^".split(" ")];

  it.each([
    ["that is none of https", NOT_HTTPS.map((repo_url) => ({ repo_url })), "repo_url"],
    ["with a wrong branch", NO_BRANCH.map((ref) => ({ repo_url: "https://example.org/a", ref })), "ref"],
  ])("%s is refused before git sees it", async (_what, inputs, field) => {
    const packRig = await openPackRig([solvePack({ command: coder("") })]);
    for (const input of inputs) {
      const error = await failureOf(packRig.engine.run(ask("swe.solve", { ...input, task: "x" })));
      expect({ input, error }).toMatchObject({ error: { code: "invalid_input", details: { field } } });
    }
  });

  it("of a host that is not listed is refused without a request", async () => {
    const { failure, server } = await rig("", { hosts: ["github.com"] });
    expect(await failure()).toMatchObject({ code: "forbidden" });
    expect(server.asked).toEqual([]);
    const listed = await rig("", { hosts: ["127.0.0.1"] });
    expect(await listed.failure()).toMatchObject({ code: "forbidden" });
  });

  it("that redirects to http is not followed", async () => {
    const { failure, server } = await rig("");
    const plain = await startGitHub(); // any plain HTTP server that records its requests
    server.answerWith(({ url }, response) => {
      response.writeHead(302, { location: `${plain.baseUrl}${url}` }).end();
    });
    expect(await failure()).toMatchObject({ code: "upstream_failed" });
    expect(plain.asked).toEqual([]);
  });

  it("of a listed host that redirects to an unlisted host is not followed", async () => {
    const [door, inside] = [
      await startGitServer(await tempFolder()),
      await startGitServer(await tempFolder()),
    ] as const;
    await inside.add("hello", { "README.md": "Hello\n" });
    door.answerWith(({ url }, response) => {
      response.writeHead(302, { location: `${inside.origin}${url}` }).end();
    });
    const caFile = join(await tempFolder(), "both.pem");
    await writeFile(
      caFile,
      (await Promise.all([door, inside].map((one) => readFile(one.caFile)))).join("\n"),
    );
    const hosts = [new URL(door.origin).host];
    const input = { repo_url: `${door.origin}/hello/.git` };
    const failure = await failureWith({ command: coder(""), caFile, hosts }, input);
    expect(failure).toMatchObject({ code: "upstream_failed" });
    expect([door.asked.length, inside.asked]).toEqual([1, []]);
  });

  it("that asks for a login gets no credentials", async () => {
    const { failure, server } = await rig("");
    server.answerWith((_request, response) => {
      response.writeHead(401, { "www-authenticate": "Basic realm=x" }).end();
    });
    expect(await failure()).toMatchObject({ code: "upstream_failed", message: /asks for a login/ });
  });

  it("with an untrusted certificate is refused", async () => {
    const { address } = await rig("");
    const failure = await failureWith({ command: coder("") }, { repo_url: address });
    expect(failure).toMatchObject({ code: "upstream_failed" });
  });
});

describe("a hostile repository", () => {
  it("does not get its submodules cloned", async () => {
    const { server, solve } = await rig(
      `process.stdout.write(process.getBuiltinModule("fs").readdirSync("part").join())`,
    );
    const part = await server.add("part", { "inside.txt": "x" });
    const tip = await server.git("part", "rev-parse", "HEAD");
    const whole = await server.add("whole", {
      ".gitmodules": `[submodule "part"]\n\tpath = part\n\turl = ${part}\n`,
    });
    await server.git("whole", "update-index", "--add", "--cacheinfo", `160000,${tip},part`);
    await server.git("whole", "commit", "-q", "-m", "submodule");
    server.asked.length = 0;
    expect((await solve({ repo_url: whole })).summary).toBe("");
    expect(server.asked.filter((path) => path.startsWith("/part"))).toEqual([]);
  });

  it("does not make git run what the command hid in it", async () => {
    const marks = await tempFolder();
    const { solve } = await rig(`
      const { chmodSync, mkdirSync } = process.getBuiltinModule("fs");
      const plant = (path, mark) => { write(path, "#!/bin/sh\\ntouch ${marks}/" + mark + "\\n"); chmodSync(path, 0o755); };
      mkdirSync(".git/hooks", { recursive: true });
      plant(".git/hooks/post-index-change", "hook");
      plant(".git/monitor", "monitor");
      plant(".git/viewer", "viewer");
      const { execFileSync } = process.getBuiltinModule("child_process");
      for (const [name, program] of [["core.fsmonitor", "monitor"], ["diff.external", "viewer"]])
        execFileSync("git", ["config", name, process.cwd() + "/.git/" + program]);
      write("new", "x");`);
    expect(await solve()).toMatchObject({ files_changed: 1 });
    expect(await readdir(marks)).toEqual([]);
  });

  it("that is too large is refused, and the command never runs", async () => {
    const marks = await tempFolder();
    const { server, failure } = await rig(`write(${JSON.stringify(join(marks, "ran"))}, "")`, {
      mostBytes: 100_000,
    });
    const noise = Array.from({ length: 200_000 }, () =>
      String.fromCharCode(33 + Math.floor(Math.random() * 90)),
    );
    const repo_url = await server.add("large", { noise: noise.join("") });
    expect(await failure({ repo_url })).toMatchObject({ code: "too_large", details: { mostBytes: 100_000 } });
    expect(await readdir(marks)).toEqual([]);
  });

  it("with links to the outside gives a patch with the links, not with their targets", async () => {
    const { server, solve, patchOf } = await rig(
      `process.getBuiltinModule("fs").symlinkSync("/etc/hosts", "out")`,
    );
    const patch = await patchOf(await solve({ repo_url: await server.add("links", {}) }));
    expect(patch).toContain("+/etc/hosts");
    expect(patch).not.toContain("localhost");
  });
});
