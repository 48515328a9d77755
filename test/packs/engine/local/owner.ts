/** A separate server that opens a session, starts a program in it, prints the folder, and waits to be killed. */
import { watch } from "node:fs";
import { openLocalSessions } from "../../../../packs/local/local-sessions.ts";

const [root = ""] = process.argv.slice(2);
const sessions = await openLocalSessions({ root });
const session = await sessions.acquire({
  caller: "alice",
  pack: "test.pack",
  signal: new AbortController().signal,
});
const marker = "require('fs').writeFileSync('pid', String(process.pid)); setInterval(() => {}, 1000)";
// The watcher fires both when the file is made and when it is written. One message is enough.
const files = watch(session.folder, (_event, name) => {
  if (name !== "pid") return;
  files.close();
  process.stdout.write(`${session.folder}\n`);
});
void session.run(process.execPath, ["-e", marker]);
