/** Writes the table of settings into docs/reference/serve.md: `node scripts/serve-reference.ts`. */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { SERVE_SETTINGS } from "../cli/serve-settings.ts";

export const SERVE_PAGE = fileURLToPath(new URL("../docs/reference/serve.md", import.meta.url));

const BLOCK = /(<!-- settings -->\n\n)[^<]*(<!-- settings: end -->)/;

/** The page with the current settings. */
export function withCurrentSettings(page: string): string {
  const rows = Object.entries(SERVE_SETTINGS).map(([name, { env, help, option, isLive, ...setting }]) => {
    const usual = setting.default === undefined ? "" : `\`${setting.default}\``;
    const how = option?.startsWith("--no-") ? ` (\`${option}\`)` : "";
    return `| \`${name}\`${how} | \`${env}\` | ${help} | ${usual} | ${isLive ? "yes" : ""} |`;
  });
  const head = ["| setting | variable | what it is | default | on SIGHUP |", "|---|---|---|---|---|"];
  return page.replace(BLOCK, (_block, begin: string, end: string) =>
    [`${begin}${[...head, ...rows].join("\n")}`, end].join("\n\n"),
  );
}

if (import.meta.main) writeFileSync(SERVE_PAGE, withCurrentSettings(readFileSync(SERVE_PAGE, "utf8")));
