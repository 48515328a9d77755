/**
 * A coding command for tests. It runs its argument as JavaScript, with access to its input: the prompt from standard input, the
 * environment, and `write` for files.
 */
import { readFileSync, writeFileSync } from "node:fs";

const [script = ""] = process.argv.slice(2);
const prompt = readFileSync(0, "utf8");
const behave = new Function("prompt", "env", "write", "process", script);
behave(prompt, process.env, writeFileSync, process);
