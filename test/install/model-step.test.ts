/** The steps of the built-in model: into OpenClaw's state folder or its container, and out again. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { Journal } from "../../install/journal.ts";
import type { Run } from "../../install/run-command.ts";
import type { Step } from "../../install/steps/registry.ts";
import { checkModel, MODEL_FILES, modelFolderIn } from "../../model/artefact.ts";
import { gatherModel } from "../model/gathered.ts";
import { environmentIn, runSteps, testFolder } from "./fixtures.ts";

let folder: string;
let stateFolder: string;
let ran: string[];
/** What the files that were copied into the container held. */
let copied: Map<string, number>;
let fails: (command: string) => boolean;

beforeEach(async () => {
  folder = testFolder();
  stateFolder = join(folder, "state");
  [ran, copied, fails] = [[], new Map(), () => false];
});

const machine: Run = async (file, args, { input = "" } = {}) => {
  const command = [file, ...args].join(" ");
  ran.push(command);
  if (command.includes("cat >")) copied.set(args.at(-1) ?? "", input.length);
  const isVersion = command.endsWith("--version");
  const exitCode = fails(command) ? 1 : 0;
  return {
    exitCode,
    stdout: isVersion ? "OpenClaw 2026.9.6" : "",
    stderr: exitCode === 0 ? "" : "npm error offline",
  };
};

describe("on this machine", () => {
  const install = (): Step => ({ kind: "install-model", stateFolder, version: "1.2.3" });

  it("the model is copied from the package beside the installer, recorded first, and deleted by the undo", async () => {
    await gatherModel(join(folder, "dist", "model"));
    const environment = await environmentIn(folder, machine);
    expect(await runSteps([install()], environment)).toMatchObject({ exitCode: 0 });
    expect(await checkModel(modelFolderIn(stateFolder))).toEqual({ ok: true });
    expect((await Journal.read(join(folder, "journal"))).entries).toMatchObject({ installedModel: true });
    expect(ran.some((command) => command.startsWith("npm"))).toBe(false);
    await runSteps([{ kind: "remove-model", stateFolder }], environment);
    expect(existsSync(join(stateFolder, "helmdeck-memory-model"))).toBe(false);
    expect((await Journal.read(join(folder, "journal"))).entries).not.toHaveProperty("installedModel");
  });

  it("without the package npm fetches it, and a failure names what to do", async () => {
    fails = (command) => command.startsWith("npm");
    const { exitCode, error } = await runSteps([install()], await environmentIn(folder, machine));
    expect(exitCode).toBe(4);
    expect(error).toMatch(/npm could not get @helmdeck\/helmdeck-memory-model@1\.2\.3: .*offline.*npm pack/);
    expect(ran.at(-1)).toMatch(/^npm install --prefix \S+ --ignore-scripts .*@1\.2\.3$/);
    expect(existsSync(modelFolderIn(stateFolder))).toBe(false);
  });
});

describe("in a container", () => {
  const install: Step = { kind: "install-model", container: "claw", version: "1.2.3" };
  const target = { kind: "container", name: "claw" } as const;

  it("its files are copied, the plugin there puts them in their place, and the copies are deleted", async () => {
    await gatherModel(join(folder, "dist", "model"));
    const { exitCode } = await runSteps([install], await environmentIn(folder, machine), target);
    expect(exitCode).toBe(0);
    expect([...copied]).toEqual(MODEL_FILES.map(({ name, sizeBytes }) => [name, sizeBytes]));
    const [put, clear] = ran.slice(-2);
    expect(put).toMatch(/openclaw helmdeck model install --from (\/tmp\/helmdeck-model-\d+)$/);
    expect(clear).toMatch(/rm -rf \/tmp\/helmdeck-model-\d+$/);
  });

  it("the copies are deleted also if a file cannot be written", async () => {
    await gatherModel(join(folder, "dist", "model"));
    fails = (command) => command.includes("cat >");
    const { exitCode, error } = await runSteps([install], await environmentIn(folder, machine), target);
    expect([exitCode, error]).toEqual([4, expect.stringContaining("/tmp")]);
    expect(ran.at(-1)).toMatch(/rm -rf \/tmp\/helmdeck-model-\d+$/);
  });

  it("the undo deletes it in OpenClaw's state folder there", async () => {
    await runSteps(
      [{ kind: "remove-model", container: "claw" }],
      await environmentIn(folder, machine),
      target,
    );
    expect(ran.at(-1)).toContain(`rm -rf "\${OPENCLAW_STATE_DIR:-$HOME/.openclaw}/helmdeck-memory-model"`);
  });
});
