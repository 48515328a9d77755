/** `rotate-key`: replaces the key, with progress, and prints the remaining steps. */
import { resolve } from "node:path";
import type { Command } from "commander";
import type { Rotation, RotationPlan } from "../../app/keys/rotate-key.ts";
import { counted } from "../../app/presenters/words.ts";
import { snakeCased } from "../../app/wire/codec.ts";
import type { CommandContext, Runs } from "../../commands/command-line.ts";
import { EXIT_DONE } from "../../commands/exit-codes.ts";
import { nonEmpty, withExamples } from "../../commands/option-parsers.ts";
import { showCount } from "../../commands/progress-bar.ts";
import { defined } from "../../engine/defined.ts";
import { isHelmdeckError } from "../../engine/errors.ts";
import { harmlessLine } from "../../engine/facts/hostile-text.ts";

export function declareRotateKey(program: Command, runs: Runs): void {
  const rotate = program
    .command("rotate-key")
    .summary("Change the key and encrypt everything with it.")
    .description(
      "Make a new key, encrypt everything with it, and put it in place of the former one, which stays as <key file>.former-<key id>. Memory stays usable. If interrupted, run it again; until then both keys open everything.",
    )
    .option(
      "--new-key-file <file>",
      "For a key that you keep elsewhere: encrypt with the key in this file, which is created if needed. Put that key in place, then run rotate-key --finish.",
      nonEmpty,
    )
    .option("--finish", "Remove the former key, after you put the new one in place.")
    .option("--dry-run", "Only show what it would do.")
    .action((_options: unknown, command: Command) => {
      const request = command.opts<RotateKeyRequest>();
      if (request.finish && (request.newKeyFile !== undefined || request.dryRun))
        return command.error("--finish takes neither --new-key-file nor --dry-run.");
      const action = request.dryRun ? undefined : "key_changed";
      return runs(command, async (context) => rotateKeyCommand(context, request), action);
    });
  withExamples(rotate, [
    "helmdeck-memory rotate-key --dry-run",
    "helmdeck-memory rotate-key",
    "helmdeck-memory rotate-key --new-key-file new.key",
    "helmdeck-memory rotate-key --finish",
  ]);
}

interface RotateKeyRequest {
  readonly newKeyFile?: string;
  readonly finish?: boolean;
  readonly dryRun?: boolean;
}

async function rotateKeyCommand(context: CommandContext, request: RotateKeyRequest): Promise<number> {
  const { finishRotation, planRotation, rotateKey } = await import("../../app/keys/rotate-key.ts");
  const newKeyPath = request.newKeyFile === undefined ? undefined : resolve(request.newKeyFile);
  const options = { ...(await context.line.memoryOptions(context)), ...defined({ newKeyPath }) };
  if (request.dryRun) return tellPlan(context, await planRotation(options));
  const { output, shell } = context;
  const progress = await showCount(shell, {
    say: (done, total) => {
      void output.note(`Encrypted with the new key: ${done} of ${total} entries.`).catch(() => {}); // best effort
    },
  });
  try {
    const change = request.finish ? finishRotation : rotateKey;
    const rotation = await change({
      ...options,
      onProgress: ({ done, total }) => progress.update(done, total),
    }).catch((error: unknown) => {
      const { former, current } = (isHelmdeckError(error) && error.details) || {};
      if (former && current) context.found?.({ key: String(current), former_key: String(former) });
      throw error;
    });
    progress.stop();
    context.found?.({ key: rotation.to, former_key: rotation.from, state: rotation.state });
    return await tell(context, rotation, options.server !== undefined);
  } finally {
    progress.stop();
  }
}

async function tellPlan({ output, options }: CommandContext, plan: RotationPlan): Promise<number> {
  if (options.json) {
    await output.json({ dry_run: true, ...snakeCased({ ...plan }) });
    return EXIT_DONE;
  }
  const { entries, from, to, keySource, keyPath = "", formerKeyPath } = plan;
  await output.line(
    `Would encrypt ${counted(entries, "entry", "entries")} with a new key. The current key is ${from}, from ${harmlessLine(keySource)}.`,
  );
  if (to !== undefined) await output.line(`A change to the key ${to} has begun; this would continue it.`);
  await output.line(
    formerKeyPath === undefined
      ? `The new key would be in ${harmlessLine(keyPath)}, for you to put in place.`
      : `The new key would be in ${harmlessLine(keyPath)}, the former one in ${harmlessLine(formerKeyPath)}.`,
  );
  return EXIT_DONE;
}

async function tell(
  { output, options }: CommandContext,
  rotation: Rotation,
  isOnServer: boolean,
): Promise<number> {
  if (options.json) {
    await output.json(snakeCased({ ...rotation }));
    return EXIT_DONE;
  }
  const { from, to, state, unreadable = 0, erased, keyPath = "", formerKeyPath } = rotation;
  if (state === "both_open") {
    await output.line(
      `Everything is encrypted with the key ${to}. Both keys open it until the change is finished: this one and the former one (${from}).`,
    );
    await output.note(
      `Replace the former key with the new one in ${harmlessLine(keyPath)}, restart every process that got the key at its start, and run helmdeck-memory rotate-key --finish.`,
    );
    return EXIT_DONE;
  }
  await output.line(`The key is now ${to}; the former key (${from}) no longer opens this database.`);
  if (unreadable > 0)
    await output.note(
      `${unreadable} rows were unreadable before and were not changed; see helmdeck-memory doctor.`,
    );
  if (isOnServer)
    await output.note(
      "Engines that run follow. Put the new key on every other machine before an engine starts there again.",
    );
  else if (erased === "pending")
    await output.note("Old bytes are overwritten as soon as no other process reads the database.");
  const where = formerKeyPath === undefined ? "" : `, ${harmlessLine(formerKeyPath)}`;
  await output.note(
    `Back up the new key. Make a new backup of the data, then destroy the former key${where}, and every copy of it. Then nobody can open the old backups.`,
  );
  return EXIT_DONE;
}
