/**
 * The three packages as npm installs them into an empty folder, and the examples there: they compile against the package's types,
 * and print what their READMEs say. npm fetches what is installed with them from elsewhere, so this needs the network.
 */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ROOT } from "../../scripts/build/build.ts";
import { packageProblems } from "../../scripts/check-packages.ts";
import { packEngine, packModel, packNotesPlugin, packPlugin } from "../../scripts/pack.ts";

const run = promisify(execFile);
const TIMEOUT_MS = 300_000;
let folder: string;
let env: NodeJS.ProcessEnv;
let tarballs: readonly [engine: string, plugin: string, model: string, notes: string];

beforeAll(async () => {
  folder = mkdtempSync(join(realpathSync(tmpdir()), "hd-packages-"));
  const packed = join(folder, "packed");
  tarballs = [
    await packEngine(packed),
    await packPlugin(packed),
    await packModel(packed),
    await packNotesPlugin(packed),
  ];
  const bin = join(folder, "node_modules", ".bin");
  const PATH = [bin, dirname(process.execPath), process.env.PATH].join(delimiter);
  env = { ...process.env, PATH, HOME: folder, npm_config_offline: "false" };
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
  // OpenClaw is the plugin's host and not a part of it.
  await run("npm", ["install", "--ignore-scripts", "--legacy-peer-deps", ...tarballs], { cwd: folder, env });
  cpSync(join(ROOT, "examples"), join(folder, "examples"), { recursive: true });
  for (const name of ["@modelcontextprotocol", "@types"])
    symlinkSync(join(ROOT, "node_modules", name), join(folder, "node_modules", name));
}, TIMEOUT_MS);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("publint and `are the types wrong` find nothing in any of them", async () => {
  expect((await Promise.all(tarballs.map(packageProblems))).flat()).toEqual([]);
});

/** Compiles what is named as a project of its own; answers what TypeScript complains of. */
async function compile(include: readonly string[], more: object): Promise<string> {
  const options = {
    module: "nodenext",
    target: "es2024",
    strict: true,
    noEmit: true,
    types: ["node"],
    ...more,
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: options, include }));
  const tsc = join(ROOT, "node_modules", "typescript", "bin", "tsc");
  return run(process.execPath, [tsc, "-p", folder]).then(
    ({ stdout }) => stdout,
    ({ stdout }) => stdout,
  );
}

test(
  "a TypeScript project imports both entries with their types, which are sound by themselves",
  async () => {
    const own = { lib: ["es2024"], skipLibCheck: false };
    writeFileSync(join(folder, "use.ts"), USE);
    expect(await compile(["use.ts"], own)).toBe("");
    writeFileSync(join(folder, "use.ts"), USE.replace("words.length", "words"));
    expect(await compile(["use.ts"], own)).toMatch(/use\.ts.*TS2322/);
    expect(await compile(["examples"], { skipLibCheck: true, allowJs: true, checkJs: true })).toBe("");
  },
  TIMEOUT_MS,
);

const USE = `import { openMemory, type SearchAnswer } from "helmdeck-memory";
import { definePack, z } from "helmdeck-memory/packs";
export const pack = definePack({
  name: "text.count", version: "1.0.0", description: "Counts.",
  input: z.strictObject({ words: z.array(z.string()) }),
  output: z.object({ count: z.number() }),
  run: async (_context, { words }) => ({ count: words.length }),
});
const memory = await openMemory({ databasePath: "x" });
export const answer: SearchAnswer = await memory.search("ada", { query: "deploy" });
`;

/** What the README says that the example prints. */
function promised(example: string): readonly string[] {
  const readme = readFileSync(join(folder, "examples", example, "README.md"), "utf8");
  expect(readme.trimEnd().split("\n"), "a README of three lines").toHaveLength(3);
  const [last = ""] = readme.match(/^It (?:prints|answers): .*$/m) ?? [];
  return [...last.matchAll(/`([^`]+)`/g)].map(([, text = ""]) => text);
}

async function expectPromised(example: string, file: string, more: NodeJS.ProcessEnv = {}): Promise<void> {
  const { stdout } = await run(process.execPath, [`examples/${example}/${file}`], {
    cwd: folder,
    env: { ...env, ...more },
  });
  for (const text of promised(example)) expect(stdout).toContain(text);
}

test.each([
  ["library", "remember.ts"],
  ["mcp-client", "ask.ts"],
  ["corpus-source", "search-notes.ts"],
])("examples/%s prints what its README says", (example, file) => expectPromised(example, file));

test("examples/rest-client and examples/pack do, with a server", async () => {
  mkdirSync(join(folder, "server"));
  const args = ["serve", "--port", "0", "--json", "--packs-from", join(folder, "examples", "pack")];
  const server = spawn(join(folder, "node_modules", ".bin", "helmdeck-memory"), args, {
    cwd: folder,
    env: { ...env, HOME: join(folder, "server") },
    stdio: ["ignore", "pipe", "ignore"],
  });
  try {
    const [line] = await once(createInterface(server.stdout), "line");
    const { url } = JSON.parse(line);
    await expectPromised("rest-client", "remember.ts", { HELMDECK_URL: url });
    const answer = await fetch(`${url}/api/v1/packs/text.word_count`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: '{"text": "one two three"}',
    });
    expect(await answer.text()).toContain(promised("pack")[0]);
  } finally {
    const ended = once(server, "exit");
    server.kill("SIGTERM");
    await ended;
  }
});

test("the command finds the model beside it, and copies it without a registry", async () => {
  const command = join(folder, "node_modules", ".bin", "helmdeck-memory");
  const state = join(folder, "state");
  const offline = { ...env, OPENCLAW_STATE_DIR: state, npm_config_offline: "true" };
  const model = async (...args: readonly string[]) =>
    JSON.parse((await run(command, ["model", ...args, "--json"], { cwd: folder, env: offline })).stdout);
  const beside = join(folder, "node_modules", "@helmdeck", "helmdeck-memory-model");
  expect(await model("status")).toMatchObject({ installed: true, folder: beside });
  const { folder: installed } = await model("install");
  expect(installed).toContain(join(state, "helmdeck-memory-model"));
  expect(await model("status")).toMatchObject({ installed: true, folder: installed });
});

test("npm unpacks the model's tarball without a registry, and a changed one is refused", async () => {
  const command = join(folder, "node_modules", ".bin", "helmdeck-memory");
  const state = join(folder, "from-tarball");
  const offline = { ...env, OPENCLAW_STATE_DIR: state, npm_config_offline: "true" };
  const install = (from: string) =>
    run(command, ["model", "install", "--from", from, "--json"], { cwd: folder, env: offline });
  const changed = join(folder, "changed");
  mkdirSync(changed);
  await run("tar", ["-xzf", tarballs[2], "-C", changed]);
  writeFileSync(join(changed, "package", "tokenizer.json"), "{}");
  await expect(install(join(changed, "package"))).rejects.toMatchObject({
    stderr: expect.stringContaining("model_changed"),
  });
  await run("npm", ["pack", "--silent", "--pack-destination", changed, join(changed, "package")], { env });
  await expect(install(join(changed, basename(tarballs[2])))).rejects.toMatchObject({
    stderr: expect.stringContaining("model_changed"),
  });
  expect(existsSync(state) ? readdirSync(join(state, "helmdeck-memory-model")) : []).toEqual([]);
  const { stdout } = await install(tarballs[2]);
  expect(JSON.parse(stdout)).toMatchObject({ installed: true, changed: true, from: tarballs[2] });
});
