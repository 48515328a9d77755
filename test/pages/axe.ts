/** What axe-core finds on a page that keeps people out: nothing that it calls serious or critical. */
import axe from "axe-core";
import type { Page } from "playwright-core";

const GRAVE = new Set(["serious", "critical"]);
const VIOLATIONS = { resultTypes: ["violations"] } as const;
/** In the dark only colours are others. */
const LOOKS = [
  { colorScheme: "light", options: VIOLATIONS },
  { colorScheme: "dark", options: { ...VIOLATIONS, runOnly: ["color-contrast"] } },
] as const;

/** Each as `look: rule: element`. */
export async function graveFaults(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  const faults: string[] = [];
  for (const { colorScheme, options } of LOOKS) {
    // Half-way through a change of colours is no colour to judge.
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    faults.push(...(await faultsNow(page, options)).map((fault) => `${colorScheme}: ${fault}`));
  }
  return faults;
}

async function faultsNow(page: Page, options: object): Promise<readonly string[]> {
  // In the page, where the source has just defined it.
  const { violations } = await page.evaluate<axe.AxeResults>(`axe.run(document, ${JSON.stringify(options)})`);
  return violations
    .filter(({ impact }) => GRAVE.has(impact ?? ""))
    .flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(" ")}`));
}
