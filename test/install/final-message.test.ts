/** The last lines of a run: what to try next, where the key is, how to uninstall and, after an uninstallation, which files remain. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { finalMessage } from "../../install/final-message.ts";
import type { Facts } from "../../install/installation-facts.ts";
import { Journal } from "../../install/journal.ts";
import {
  environmentIn,
  FACTS,
  INSTALLED,
  options,
  testFolder,
  withJournal,
  withOpenClaw,
} from "./fixtures.ts";

let folder: string;

beforeEach(() => {
  folder = testFolder();
});

const memory = (key: "file" | "given" | "none") => ({
  isThere: true,
  databasePath: join(folder, "m.sqlite"),
  keyPath: join(folder, "m.key"),
  key,
});
const IN_CONTAINER = withOpenClaw(
  { target: { kind: "container", name: "claw" }, memory: undefined },
  INSTALLED,
);

async function said(facts: Facts, args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
  const journal = await Journal.read(join(folder, "helmdeck-memory", "install"));
  const never = () => Promise.reject(new Error("nothing here runs a program"));
  const environment = await environmentIn(folder, never, { journal, env });
  return finalMessage(facts, options(...args), environment).join("\n");
}

describe("after an installation", () => {
  it("suggests something to try, for the agent and in a shell, and names the uninstall command", async () => {
    const text = await said(FACTS);
    expect(text).toMatch(/tell your agent +"Remember that /);
    expect(text).toMatch(/in a shell +openclaw helmdeck search "/);
    expect(text).toContain("To undo everything: install.sh --uninstall");
    expect(await said(IN_CONTAINER)).toContain("docker exec claw openclaw helmdeck search");
  });

  it.each([
    ["an upgrade", { installed: "other", keepAYear: undefined }, [], true],
    ["an upgrade by --yes", { installed: "other", keepAYear: undefined }, ["--yes"], true],
    ["a memory that outlived its plugin", { keepAYear: undefined, memory: "there" }, [], true],
    ["a first installation", { keepAYear: undefined }, [], false],
    ["a later run", { installed: "same", keepAYear: "on" }, [], false],
    ["an operator's own choice", { installed: "other", keepAYear: "off" }, [], false],
  ] as const)("names the command that renews what is there: %s", async (_run, { ...known }, args, isSaid) => {
    const there = "memory" in known ? { ...known, memory: memory("file") } : known;
    expect((await said(withOpenClaw(there), args)).includes("openclaw helmdeck renew --all")).toBe(isSaid);
  });

  it("suggests the short command where it finds the same memory", async () => {
    const state = join(folder, ".openclaw");
    const files = {
      isThere: true,
      databasePath: join(state, "helmdeck-memory", "memory.sqlite"),
      keyPath: join(state, "helmdeck-memory.key"),
    };
    const line = /in a shell +npx helmdeck-memory search "/;
    expect(await said(withOpenClaw({ memory: { ...files, key: "file" } }))).toMatch(line);
    expect(await said(withOpenClaw({ memory: { ...files, key: "given" } }))).not.toMatch(line);
    expect(await said(withOpenClaw({ memory: memory("file") }))).not.toMatch(line);
  });

  it("names the key's location and asks for a copy; for a new key also names the command to confirm it", async () => {
    const made = await said(withOpenClaw({ memory: memory("none") }));
    expect(made).toMatch(/The key is \S+\/m\.key\. Keep a copy in a safe place/);
    expect(made).toMatch(/run: .* key saved/);
    const there = await said(withOpenClaw({ memory: memory("file") }));
    expect(there).toContain(join(folder, "m.key"));
    expect(there).not.toContain("key saved");
    expect(await said(withOpenClaw({ memory: memory("given") }))).toMatch(/of your key/);
    expect(await said(IN_CONTAINER)).toMatch(
      /helmdeck-memory\.key, in OpenClaw's state folder in container:claw/,
    );
  });

  it("names the command for OpenClaw's consent if memory is to speak up and may not see messages yet", async () => {
    const command = "config set plugins.entries.helmdeck-memory.hooks.allowConversationAccess true";
    expect(await said(withOpenClaw({ speakUp: "on" }))).toContain(`openclaw ${command}`);
    expect(await said(withOpenClaw({ speakUp: "on", seesConversations: true }))).not.toContain(command);
    expect(await said(withOpenClaw({ speakUp: undefined }))).not.toContain(command);
  });

  it("prints nothing after --verify", async () => expect(await said(INSTALLED, ["--verify"])).toBe(""));
});

describe("the command helmdeck-memory", () => {
  const program = (...path: readonly string[]) => {
    const file = join(folder, ...path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, "", { mode: 0o755 });
    return dirname(file);
  };

  it("is used without a hint if it is on the path", async () => {
    const PATH = program("bin", "helmdeck-memory");
    const text = await said(withOpenClaw({ memory: memory("none") }), [], { PATH });
    expect(text).not.toContain("in your path");
    expect(text).toContain("run: helmdeck-memory key saved COPY");
  });

  it("is offered with npm install if the package runs with npx", async () => {
    const PATH = program("_npx", "1", "node_modules", ".bin", "helmdeck-memory");
    const text = await said(withOpenClaw({ memory: memory("none") }), [], { PATH });
    expect(text).toContain("To put the command helmdeck-memory on your path: npm install -g helmdeck-memory");
    expect(text).toContain("run: npx helmdeck-memory key saved COPY");
  });

  it("is offered as a link in a clone, with a note if the folder is not on the path", async () => {
    program("scripts", "with-deps.mjs");
    const link = `ln -s ${folder}/dist/helmdeck-memory.mjs ${folder}/.local/bin/helmdeck-memory`;
    expect(await said(FACTS)).toContain(`${link}   (and ${folder}/.local/bin in your PATH)`);
    const PATH = join(folder, ".local", "bin");
    expect((await said(FACTS, [], { PATH })).endsWith(link)).toBe(true);
  });
});

describe("after an uninstallation", () => {
  const UNINSTALL = ["--uninstall"];

  it("lists each remaining file with the command that deletes it, and only files that exist", async () => {
    const facts = withOpenClaw({ memory: memory("file") }, INSTALLED);
    const none = await said(facts, UNINSTALL);
    expect(none).not.toContain("m.sqlite");
    const formerKey = "m.key.former-0123456789abcdef";
    for (const name of ["m.sqlite", "m.key", formerKey]) writeFileSync(join(folder, name), "");
    const former = join(folder, "npm", "projects", "openclaw-helmdeck-memory");
    mkdirSync(former, { recursive: true });
    mkdirSync(join(folder, "helmdeck-memory", "install"), { recursive: true });
    writeFileSync(join(folder, "helmdeck-memory", "install", "openclaw.json.before"), "{}");
    const text = await said(facts, UNINSTALL);
    expect(text.split("\n")).toEqual([
      "",
      "What is left, and how to delete it:",
      `  your memory: ${folder}/m.sqlite`,
      "      install.sh --uninstall --purge",
      `  its key, without which it cannot be read: ${folder}/m.key`,
      "      install.sh --uninstall --purge",
      `  a former key, which opens older backups: ${folder}/${formerKey}`,
      "      install.sh --uninstall --purge",
      `  the plugin's files under its former name: ${former}`,
      `      rm -r "${former}"`,
      "  the model: Docker's volume helmdeck-embeddings-models",
      "      docker volume rm helmdeck-embeddings-models",
      "  Ollama's image: ollama/ollama:0.0.1",
      "      docker image rm ollama/ollama:0.0.1",
      `  the installer's lock, and openclaw.json as it was before: ${folder}/helmdeck-memory`,
      `      rm -r "${folder}/helmdeck-memory"`,
    ]);
  });

  it("lists the image after --purge, and nothing if nothing is left", async () => {
    const purged = await said(INSTALLED, [...UNINSTALL, "--purge"]);
    expect(purged).toContain("docker image rm");
    expect(purged).not.toContain("docker volume rm");
    expect(await said(FACTS, UNINSTALL)).toBe("");
  });

  it("lists the model in the operator's own Ollama with the command that deletes it", async () => {
    const text = await said(withJournal({ startedSidecar: false }), UNINSTALL);
    expect(text).toMatch(/the model nomic-embed-text: the Ollama at http:\S+\n +ollama rm nomic-embed-text/);
    expect(text).not.toContain("docker");
  });

  it("names the location inside the container if OpenClaw runs in one", async () => {
    const text = await said(IN_CONTAINER, UNINSTALL);
    expect(text).toMatch(
      /its key: OpenClaw's state folder in container:claw\n +.*--purge --openclaw container:claw/,
    );
  });
});
