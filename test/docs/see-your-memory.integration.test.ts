/** Runs the commands of docs/howto/see-your-memory.md unchanged in one shell, and checks the pictures that it shows. */

import { access, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ROOT } from "../../scripts/build/build.ts";
import { CommandHome } from "../cli/command.ts";
import { PastedShell } from "./bash-blocks.ts";

const MOST_PICTURE_BYTES = 120_000;
const GUIDE = await readFile(join(ROOT, "docs/howto/see-your-memory.md"), "utf8");
const BLOCKS = [...GUIDE.matchAll(/^```bash\n(.*?)^```/gms)].map(([, script = ""]) => script);

describe("the guide to the pages", () => {
  let home: CommandHome;
  let shell: PastedShell;
  beforeAll(async () => {
    home = new CommandHome();
    shell = new PastedShell({ cwd: home.folder, env: await home.putInPath() });
    await home.run(["store", "deploy", "We deploy through Konflux"]);
  });
  afterAll(() => {
    shell.close();
    home.remove();
  });

  test("opens the memory of the default agent", async () => {
    const [opening = ""] = BLOCKS;
    expect(opening).toBe("helmdeck-memory open\n");
    const [address = "", url = ""] = await shell.start(opening, /(http:\/\/[\d.:]+)\/sign-in\/\S+/);
    const signedIn = await fetch(address);
    const Cookie = signedIn.headers.getSetCookie()[0]?.split(";")[0] ?? "";
    const facts = await (await fetch(url, { headers: { Cookie } })).text();
    expect(facts).toContain("We deploy through Konflux");
    await shell.interrupt();
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
