/** Checks a page's accessibility: axe-core must find nothing serious or critical. */
import axe from "axe-core";
import type { Page } from "playwright-core";

const GRAVE = new Set(["serious", "critical"]);
const VIOLATIONS = { resultTypes: ["violations"] } as const;
/** The dark scheme differs only in its colours. */
const LOOKS = [
  { colorScheme: "light", options: VIOLATIONS },
  { colorScheme: "dark", options: { ...VIOLATIONS, runOnly: ["color-contrast"] } },
] as const;

/** Each finding as `look: rule: element`. */
export async function graveFaults(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  const faults: string[] = [];
  for (const { colorScheme, options } of LOOKS) {
    // Colours in the middle of a transition cannot be checked.
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    faults.push(...(await faultsNow(page, options)).map((fault) => `${colorScheme}: ${fault}`));
  }
  return faults;
}

async function faultsNow(page: Page, options: object): Promise<readonly string[]> {
  // Runs in the page, in which the source has just defined axe.
  const { violations } = await page.evaluate<axe.AxeResults>(`axe.run(document, ${JSON.stringify(options)})`);
  return violations
    .filter(({ impact }) => GRAVE.has(impact ?? ""))
    .flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(" ")}`));
}
