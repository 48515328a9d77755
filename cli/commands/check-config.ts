/**
 * `serve --check-config`: says what is set and where it stands, and what is wrong with it. Starts nothing, opens no database.
 *
 * Threat: whoever sees the output, or a log of it, learns a secret. Defence: of a secret in a variable only the variable's name is
 * shown, and of a database's address only host and database.
 */
import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { Command } from "commander";
import { openAuditFile } from "../../app/audit-log.ts";
import { reachPostgres } from "../../app/database-server/postgres-server.ts";
import { embeddingSettingsOfEnv } from "../../app/embedding/embedding-environment.ts";
import { hasKey } from "../../app/memory-to-serve.ts";
import { safeJson } from "../../app/presenters/safe-json.ts";
import { readSecretFile } from "../../app/secret-file.ts";
import type { CommandContext } from "../../commands/command-line.ts";
import { EXIT_DONE, EXIT_FAILED } from "../../commands/exit-codes.ts";
import { asHelmdeckError } from "../../engine/errors.ts";
import { harmlessLine } from "../../engine/facts/hostile-text.ts";
import { addressToListenOn } from "../../server/listening.ts";
import { loadTokenRules } from "../../server/token-files.ts";
import { memoryOptions, serverAddress } from "../memory-options.ts";
import { readServeSettings, type ServeSettings } from "../read-serve-settings.ts";
import type { ReadSetting, SettingProblem } from "../serve-settings.ts";

/** Exit code 1 if anything is wrong. */
export async function checkConfigCommand(asked: CommandContext, command: Command): Promise<number> {
  const read = await readServeSettings(asked, command);
  const problems = [...read.problems, ...(await problemsOf(read))];
  const { output, options } = asked;
  const shown = await shownSettings(read);
  if (options.json) await output.json({ file: read.file ?? null, settings: shown, problems });
  else {
    for (const { name, value, from } of shown) await output.line(`${name}: ${harmlessLine(value)} (${from})`);
    for (const { where, problem } of problems)
      await output.note(`${output.styledNote("red", `${harmlessLine(where)}:`)} ${harmlessLine(problem)}`);
    if (problems.length === 0) await output.line("Nothing is wrong.");
  }
  return problems.length === 0 ? EXIT_DONE : EXIT_FAILED;
}

async function shownSettings({ settings, context, file = "" }: ServeSettings) {
  const address = await nameOfStore(context);
  return [...settings].map(([name, setting]) => {
    const { from, variable = "", unusableAt } = setting;
    const places = { option: "option", environment: variable, file, default: "default" };
    return { name, value: shownValue(name, setting, address), from: unusableAt ?? places[from] };
  });
}

function shownValue(name: string, { value, variable, unusableAt }: ReadSetting, address: string): string {
  if (unusableAt !== undefined) return "not usable";
  if (value === undefined) return variable === undefined ? "not set" : "set, not shown";
  if (name === "store") return address;
  const text = (one: unknown) => (typeof one === "object" ? safeJson(one) : String(one));
  return Array.isArray(value) ? value.map(text).join(", ") : text(value);
}

/** Without user and password. */
async function nameOfStore(context: CommandContext): Promise<string> {
  try {
    const address = serverAddress(context);
    return address === undefined ? "not used" : (await reachPostgres(address.text, address)).name;
  } catch {
    return "not usable";
  }
}

/** What does not show in one setting alone. */
async function problemsOf({ settings, context }: ServeSettings): Promise<readonly SettingProblem[]> {
  const { env } = context.shell;
  const text = (name: string) => settings.get(name)?.value as string | undefined; // these are texts
  const checks: Readonly<Record<string, () => Promise<unknown>>> = {
    "jwt-secret-file": () => loadTokenRules(env),
    host: async () => {
      const secret = await loadTokenRules(env).catch(() => "unusable");
      return addressToListenOn({ host: text("host") ?? "", hasAuthentication: secret !== undefined });
    },
    store: async () => {
      const address = serverAddress(context);
      return address && reachPostgres(address.text, address);
    },
    "store-password-file": async () => {
      const path = text("store-password-file");
      return path && readSecretFile(path);
    },
    "key-file": () => requireKey(context, settings.get("require-memory")?.value === true),
    "audit-file": async () => {
      const path = text("audit-file");
      if (path !== undefined)
        await (existsSync(path) ? openAuditFile(context.shell, () => {}) : requireFolder(dirname(path)));
    },
    "packs-from": () => requireFolder(text("packs-from")),
    pipelines: () => requireFolder(text("pipelines")),
    embeddings: async () => {
      const chosen = await embeddingSettingsOfEnv(env);
      if ("problem" in chosen) throw new WrongSetting(String(chosen.problem));
    },
  };
  const problems: SettingProblem[] = [];
  for (const [where, check] of Object.entries(checks))
    await check().catch((error: unknown) => {
      const problem = error instanceof WrongSetting ? error.message : asHelmdeckError(error).message;
      problems.push({ where, problem });
    });
  return problems;
}

/** A command that prints the key is not run. */
async function requireKey(context: CommandContext, requiresMemory: boolean): Promise<void> {
  const { store: _, ...options } = context.options; // the database has a check of its own
  if ((context.shell.env.HELMDECK_MEMORY_KEY_COMMAND ?? "") !== "") return;
  const { server: __, ...places } = await memoryOptions({
    ...context,
    options,
    shell: { ...context.shell, env: { ...context.shell.env, HELMDECK_MEMORY_STORE: undefined } },
  });
  if (await hasKey(places)) return;
  if (requiresMemory || serverAddress(context) !== undefined)
    throw new WrongSetting("There is no key; name its file. Every engine of a memory needs the same one.");
}

class WrongSetting extends Error {}

async function requireFolder(path: string | undefined): Promise<void> {
  if (path === undefined) return;
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory() !== true)
    throw new WrongSetting(
      `${path} is not a folder that this account can open; create it, or leave the setting out.`,
    );
}
