/** Runs the commands of docs/howto/see-your-memory.md unchanged, and checks the pictures that it shows. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { access, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ROOT } from "../../scripts/build/build.ts";
import { CommandHome } from "../cli/command.ts";

const MOST_PICTURE_BYTES = 120_000;
const GUIDE = await readFile(join(ROOT, "docs/howto/see-your-memory.md"), "utf8");
const BLOCKS = [...GUIDE.matchAll(/^```bash\n(.*?)^```/gms)].map(([, script = ""]) => script);

describe("the guide to the pages", () => {
  let home: CommandHome;
  let env: Awaited<ReturnType<CommandHome["putInPath"]>>;
  beforeAll(async () => {
    home = new CommandHome();
    env = await home.putInPath();
    await home.run(["store", "deploy", "We deploy through Konflux"]);
  });
  afterAll(() => home.remove());

  /** Starts the script and returns its lines as they arrive. Uses another port, because the usual one may be taken. */
  function start(script: string) {
    const free = script.replace("helmdeck-memory serve", "exec helmdeck-memory serve --port 0");
    return spawn("sh", ["-eu", "-c", free], { cwd: home.folder, env, stdio: ["ignore", "pipe", "ignore"] });
  }

  test("opens the memory of the default agent", async () => {
    const [, serving = ""] = BLOCKS;
    expect(serving).toMatch(/token --subject main\nhelmdeck-memory serve\n$/);
    const child = start(serving);
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    const [token, , pages] = [await lines.next(), await lines.next(), await lines.next()];
    const url = /http:\S+/.exec(String(pages.value))?.[0] ?? "";
    const headers = { "Content-Type": "application/x-www-form-urlencoded", Origin: new URL(url).origin };
    const body = new URLSearchParams({ token: String(token.value) });
    const signedIn = await fetch(`${url}sign-in`, { method: "POST", redirect: "manual", headers, body });
    const Cookie = signedIn.headers.getSetCookie()[0]?.split(";")[0] ?? "";
    const facts = await (await fetch(url, { headers: { Cookie } })).text();
    expect(facts).toContain("We deploy through Konflux");
    child.kill("SIGTERM");
    await once(child, "close");
  });

  test("creates an operator's token as described", async () => {
    const child = start(BLOCKS[2] ?? "");
    const [line] = await once(createInterface(child.stdout), "line");
    const claims = JSON.parse(Buffer.from(String(line).split(".")[1] ?? "", "base64url").toString());
    expect(claims).toMatchObject({ sub: "main", scopes: ["admin"] });
  });

  test("uses existing small pictures, in a light and a dark version", async () => {
    const shown = [...GUIDE.matchAll(/\]\(\.\.\/pictures\/(pages-\w+)-(?:light|dark)\.png\)/g)];
    expect(shown.map(([, name]) => name)).toEqual(
      ["facts", "fact", "timeline", "growth", "health"].map((name) => `pages-${name}`),
    );
    for (const [, name = ""] of shown) {
      for (const look of ["light", "dark"]) {
        const path = join(ROOT, "docs/pictures", `${name}-${look}.png`);
        await access(path);
        expect((await stat(path)).size).toBeLessThan(MOST_PICTURE_BYTES);
      }
    }
  });
});
