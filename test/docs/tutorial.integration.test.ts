/**
 * Runs docs/tutorial.md, command by command in one shell, in a home of its own with the real OpenClaw and a stand-in for the language model.
 *
 * `npm run docs:tutorial` also writes the pictures of this run that the page shows.
 */
import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ROOT } from "../../scripts/build/build.ts";
import { OpenClawHost } from "../../scripts/openclaw-host/openclaw-host.ts";
import { pathWithOpenClaw } from "../docker/package.ts";
import { MODEL_ID, providerAt, type StandInModel, startStandInModel } from "../gateway/stand-in-model.ts";
import { wayToPackages } from "../run/way-to-packages.ts";
import { PastedShell } from "./bash-blocks.ts";
import { type ConsoleBlock, consoleBlocks, patternOf, typed } from "./console-blocks.ts";
import { terminalPicture } from "./terminal-picture.ts";

const run = promisify(execFile);
const PAGE = await readFile(join(ROOT, "docs/tutorial.md"), "utf8");
const BLOCKS = consoleBlocks(PAGE);
const PICTURES = join(ROOT, "docs", "pictures");
const WRITES_PICTURES = process.env.HELMDECK_WRITE_PICTURES === "1";

/** Time for a dozen `openclaw` commands and two starts of a gateway. */
const LONGEST_MS = 900_000;

/** How the model responds to the page's sentences. */
const READS = [
  {
    says: /Remember that (.+)$/m,
    calls: (text: string) => [{ tool: "helmdeck__memory_store", args: { key: "deployment", value: text } }],
    answers: () => "I will remember that.",
  },
  {
    says: /(How do I release software\?)/,
    calls: (text: string) => [{ tool: "memory_search", args: { query: text } }],
    answers: (result: string) => `You told me: ${/> ([^"\\]*)/.exec(result)?.[1] ?? "nothing about it."}`,
  },
];

describe("the tutorial", () => {
  let model: StandInModel;
  let host: OpenClawHost;

  beforeAll(async () => {
    model = await startStandInModel(READS);
    host = await OpenClawHost.make({
      config: {
        agents: { defaults: { model: { primary: `stand-in/${MODEL_ID}` } } },
        models: { providers: { "stand-in": providerAt(model.baseUrl) } },
      },
    });
  });
  afterAll(async () => {
    await host?.stop();
    await model?.close();
  });

  test("has commands under each of its steps", () => {
    expect(BLOCKS.length).toBeGreaterThanOrEqual(9);
  });

  test("can be followed as it is written", { timeout: LONGEST_MS }, async () => {
    const shell = new PastedShell({ env: await environmentOf(host), cwd: host.home.workspace });
    for (const block of BLOCKS) {
      if (block.is.has("second-terminal")) await host.startGateway();
      else await follow(block, shell);
    }
    shell.close();
  });

  async function follow(block: ConsoleBlock, shell: PastedShell): Promise<void> {
    const shown: string[] = [];
    for (const step of block.steps) {
      const printed = await shell.run(step.command);
      expect(printed, typed(step)).toMatch(patternOf(step.expected));
      shown.push(typed(step), printed.trimEnd());
    }
    if (block.picture !== undefined && WRITES_PICTURES)
      await writePicture(
        block.picture,
        block.heading,
        shown
          .join("\n")
          .replaceAll(join(host.home.root, "home"), "~")
          .replaceAll(host.home.workspace, "~/.openclaw/workspace"),
      );
  }
});

/** Of a shell with OpenClaw, in which npm's registry has this package. */
async function environmentOf({ home }: OpenClawHost): Promise<Readonly<Record<string, string>>> {
  const globals = join(home.root, "npm");
  const programs = join(home.root, "bin");
  const path = pathWithOpenClaw(programs);
  await mkdir(globals);
  const { stdout } = await run("npm", ["pack", "--silent", "--pack-destination", home.root], { cwd: ROOT });
  await writeFile(join(programs, "npm"), await standInRegistry(join(home.root, stdout.trim())), {
    mode: 0o755,
  });
  return {
    ...home.env,
    ...(await wayToPackages()),
    PATH: [join(globals, "bin"), path].join(delimiter),
    npm_config_prefix: globals,
    npm_config_fund: "false",
    npm_config_audit: "false",
  };
}

/** An `npm` that replaces the package's name by its tarball. */
async function standInRegistry(tarball: string): Promise<string> {
  const { stdout: npm } = await run("sh", ["-c", "command -v npm"]);
  return `#!/bin/sh
for word; do
  shift
  if [ "$word" = helmdeck-memory ]; then word='${tarball}'; fi
  set -- "$@" "$word"
done
exec ${npm.trim()} "$@"
`;
}

async function writePicture(name: string, title: string, text: string): Promise<void> {
  await mkdir(PICTURES, { recursive: true });
  await writeFile(join(PICTURES, `tutorial-${name}.svg`), terminalPicture(title, text));
}
