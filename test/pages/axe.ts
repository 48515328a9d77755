/** What axe-core finds on a page that keeps people out: nothing that it calls serious or critical. */
import axe from "axe-core";
import type { Page } from "playwright-core";

const GRAVE = new Set(["serious", "critical"]);

/** Each as `rule: element`; looked at twice, in light and in dark. */
export async function graveFaults(page: Page): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const colorScheme of ["light", "dark"] as const) {
    // Half-way through a change of colours is no colour to judge.
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    faults.push(...(await faultsNow(page)).map((fault) => `${colorScheme}: ${fault}`));
  }
  return faults;
}

async function faultsNow(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  // In the page, where the source has just defined it.
  const { violations } = await page.evaluate<axe.AxeResults>("axe.run(document)");
  return violations
    .filter(({ impact }) => GRAVE.has(impact ?? ""))
    .flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(" ")}`));
}
