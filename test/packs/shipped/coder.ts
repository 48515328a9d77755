/**
 * A coding command for tests. Its behaviour is its argument, a piece of JavaScript, with what a command is given in reach: the
 * prompt from its standard input, the environment, and `write` for files.
 */
import { readFileSync, writeFileSync } from "node:fs";

const [script = ""] = process.argv.slice(2);
const prompt = readFileSync(0, "utf8");
const behave = new Function("prompt", "env", "write", "process", script);
behave(prompt, process.env, writeFileSync, process);
