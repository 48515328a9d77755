/** Waits until its parent process ends. Unless the parent sent "done", it ends the parent's groups and deletes its folder. */
import { rm } from "node:fs/promises";
import { createInterface } from "node:readline";
import { endGroup, endOrphanProcesses } from "./process-groups.ts";

const [root] = process.argv.slice(2);
const groups = new Set<number>();
let isDone = false;

// Ctrl-C is for the parent; the keeper acts when the pipe closes.
for (const name of ["SIGINT", "SIGHUP", "SIGTERM"] as const) process.on(name, () => {});

for await (const line of createInterface({ input: process.stdin })) {
  const [verb, pid] = line.split(" ");
  if (verb === "done") isDone = true;
  if (verb === "add") groups.add(Number(pid));
  if (verb === "drop") groups.delete(Number(pid));
}

if (!isDone && root !== undefined) {
  await Promise.all([...groups].map(endGroup));
  await endOrphanProcesses(root);
  await rm(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}
