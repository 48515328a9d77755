/** Finds the memory of `helmdeck-memory` from its options and the environment. */

import type { AddressOptions } from "../app/database-server/store-address.ts";
import { namesEmbeddings } from "../app/embedding/embedding-environment.ts";
import type { OpenMemoryOptions } from "../app/open-memory-options.ts";
import { findStorage } from "../app/storage-location.ts";
import type { CommandContext } from "../commands/command-line.ts";
import type { Shell } from "../commands/shell.ts";
import { defined } from "../engine/defined.ts";
import { invalidField } from "../engine/errors.ts";
import { betterSqliteDriver } from "../engine/store/sqlite/better-sqlite-driver.ts";
import type { OpenServerContextOptions } from "../packs/server-context.ts";
import { installedEmbeddings } from "./installed-embeddings.ts";

type Asking = Pick<CommandContext, "shell" | "options">;

export async function memoryOptions({ shell, options }: Asking): Promise<OpenMemoryOptions> {
  const { env, homeDir, now } = shell;
  const server = await serverOf({ shell, options });
  const place = findStorage({
    env,
    homeDir,
    ...defined({ databasePath: options.db }),
  });
  // A command ends before a timer could sweep or a background task could embed, so it embeds on request.
  const driver = betterSqliteDriver;
  const usualPath = findStorage({ env, homeDir }).databasePath;
  const isInstalled = server === undefined && !namesEmbeddings(env);
  const embeddings = isInstalled ? await installedEmbeddings({ ...place, env, usualPath }) : undefined;
  return {
    ...{ ...place, ...keyCommandOf(shell), env, driver, now, sweepEveryMs: 0, embedsEntries: false },
    ...defined({ server, embeddings }),
  };
}

/** The address of a database on a server, if one is given. */
interface ServerAddress extends AddressOptions {
  readonly text: string;
}

/** An argument overrides the environment. Throws `invalid_input` if two locations are given. */
export function serverAddress({ shell, options }: Asking): ServerAddress | undefined {
  const { env, homeDir } = shell;
  const { db, store } = options;
  if (db !== undefined && store !== undefined) {
    throw invalidField("store", "cannot be used with --db; name one database", { named: "--store" });
  }
  const text = store ?? (db === undefined ? env.HELMDECK_MEMORY_STORE : undefined);
  if (text === undefined || text === "") return undefined;
  return { text, env, homeDir, from: store === undefined ? "environment" : "argument" };
}

async function serverOf(asking: Asking): Promise<OpenMemoryOptions["server"]> {
  const address = serverAddress(asking);
  if (address === undefined) return undefined;
  const { postgresServer } = await import("../app/database-server/postgres-server.ts");
  return postgresServer(address.text, address);
}

/** For commands that work on a database file. Throws `invalid_input` if memory is on a server. */
export async function fileOptions(context: Asking): Promise<OpenMemoryOptions> {
  const options = await memoryOptions(context);
  if (options.server === undefined) return options;
  throw invalidField(
    "store",
    "is on a database server, and this is for a database file: back up, restore and check it with the server's own tools (pg_dump, pg_basebackup, pg_amcheck), and name a file with --db",
    { named: "This memory" },
  );
}

/** Loaded only if a command prints the key. */
function keyCommandOf(shell: Shell): Pick<OpenMemoryOptions, "runCommand"> {
  return { runCommand: async (argv) => (await import("./key-command.ts")).runKeyCommand(shell, argv) };
}

/** For commands that serve until they are stopped: they sweep, and finish running work. */
export async function serverContextOptions(context: Asking): Promise<OpenServerContextOptions> {
  const { sweepEveryMs: _, embedsEntries: __, ...memory } = await memoryOptions(context);
  return { ...memory, withoutKey: "make" };
}
