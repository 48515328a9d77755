/** `model`: installs the built-in model from a folder, finds a changed byte, and deletes it; without npm and without a memory. */
import { appendFileSync, cpSync, existsSync, mkdtempSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { modelFolderIn } from "../../model/artefact.ts";
import { gatherModel } from "../model/gathered.ts";
import { BUNDLED_COMMAND, CommandHome } from "./command.ts";
import { InProcessHome } from "./in-process.ts";

let source: InProcessHome;
let files: string;
const home = InProcessHome.forEachTest();
let state: string;

beforeAll(async () => {
  source = new InProcessHome();
  files = await gatherModel(join(source.folder, "files"));
});
beforeEach(() => {
  state = join(home.folder, "state");
});
afterAll(() => source.remove());

const run = (...args: readonly string[]) =>
  home.run(["model", ...args], { env: { OPENCLAW_STATE_DIR: state } });
const json = async (...args: readonly string[]) => JSON.parse((await run(...args, "--json")).stdout);

test("beside the program, as a clone's build has it, is used from there", async () => {
  const clone = mkdtempSync(`${dirname(BUNDLED_COMMAND)}-`);
  cpSync(dirname(BUNDLED_COMMAND), clone, { recursive: true });
  const folder = await gatherModel(join(clone, "model"));
  const there = new CommandHome(join(clone, basename(BUNDLED_COMMAND)));
  onTestFinished(() => there.remove());
  const told = async (...args: readonly string[]) =>
    JSON.parse((await there.run([...args, "--json"])).stdout);
  expect(await told("model", "status")).toMatchObject({ installed: true, folder });
  await there.run(["store", "deploy", "We always deploy via Konflux"]);
  await there.run(["embed"]);
  expect(await told("search", "how do we ship to production")).toMatchObject({ mode: "hybrid" });
  expect((await there.run(["status"])).stdout).not.toContain("not installed");
  expect(existsSync(modelFolderIn(there.stateFolder))).toBe(false);
});

describe("model install", () => {
  test("copies the files, says so, and changes nothing the second time", async () => {
    const folder = modelFolderIn(state);
    expect(await json("install", "--from", files)).toEqual({
      ...{ installed: true, changed: true, folder, from: files },
    });
    expect(statSync(join(folder, "model.ort")).mode & 0o777).toBe(0o600);
    expect(await json("status")).toMatchObject({ installed: true, folder });
    const again = await run("install", "--from", files);
    expect(again).toMatchObject({ code: 0, stdout: `The built-in model is already in ${folder}.\n` });
  });

  test("--dry-run shows what it would do, and changes nothing", async () => {
    const { stdout } = await run("install", "--from", files, "--dry-run");
    expect(stdout).toBe(`Would copy the built-in model (38 MB) from ${files} to ${modelFolderIn(state)}.\n`);
    expect(existsSync(state)).toBe(false);
  });

  test("refuses a folder that is not there, or has other files, and leaves nothing", async () => {
    expect(await run("install", "--from", "nowhere")).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/invalid_input.*--from \S+nowhere does not exist/),
    });
    expect(await run("install", "--from", home.folder)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("model_missing"),
    });
    const left = existsSync(state) ? readdirSync(state, { recursive: true }) : [];
    expect(left.filter((name) => !String(name).endsWith("helmdeck-memory-model"))).toEqual([]);
  });

  test("repairs a changed file", async () => {
    await run("install", "--from", files);
    appendFileSync(join(modelFolderIn(state), "tokenizer.json"), " ");
    const changed = await run("status");
    expect(changed).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("tokenizer.json is not the file"),
    });
    expect(await json("install", "--from", files)).toMatchObject({ changed: true });
    expect((await run("status")).code).toBe(0);
  });
});

describe("model status and remove", () => {
  test("say how to install what is not there", async () => {
    const { code, stdout } = await run("status");
    expect([code, stdout]).toEqual([1, expect.stringContaining("Run: helmdeck-memory model install")]);
    expect(await json("remove")).toMatchObject({ removed: false });
  });

  test("remove deletes it, and only it", async () => {
    await home.run(["store", "a", "b"], { env: { OPENCLAW_STATE_DIR: state } });
    await run("install", "--from", files);
    expect(await json("remove", "--dry-run")).toMatchObject({ dry_run: true, removed: false });
    expect(existsSync(modelFolderIn(state))).toBe(true);
    expect(await json("remove")).toMatchObject({ removed: true });
    expect(readdirSync(state)).not.toContain("helmdeck-memory-model");
    expect(await home.run(["get", "a"], { env: { OPENCLAW_STATE_DIR: state } })).toMatchObject({ code: 0 });
  });
});
