/**
 * Builds the documentation site: the README, every page of docs/, and the REST API and the package's API reference, with search.
 *
 *   npm run docs:site [-- DIR]     # default: dist-site/
 *
 * Uses TypeDoc, which fails on broken links.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { Application, type DocumentReflection, IndexEvent, PageEvent, ReflectionKind } from "typedoc";
import { LIBRARY } from "./build/engine-package.ts";
import { ROOT, readPages } from "./docs-pages.ts";
import { restApiPage } from "./docs-rest-api.ts";

/** `restApi`: a page in Markdown, made for the site alone. */
async function buildSite(out: string, restApi: string): Promise<number> {
  const app = await Application.bootstrap({
    name: "helmdeck memory",
    tsconfig: `${ROOT}tsconfig.json`,
    entryPoints: Object.values(LIBRARY).map((file) => `${ROOT}${file}`),
    readme: `${ROOT}README.md`,
    projectDocuments: [
      `${ROOT}docs/*.md`,
      `${ROOT}docs/{howto,reference,explanation,decisions}/*.md`,
      `${ROOT}{CONTRIBUTING,SECURITY,CHANGELOG}.md`,
      restApi,
    ],
    customCss: `${ROOT}scripts/docs-site.css`,
    out,
    basePath: ROOT,
    disableSources: true,
    excludeExternals: true,
    externalPattern: ["**/node_modules/**"],
    searchInDocuments: true,
    searchInComments: true,
    searchGroupBoosts: { Documents: 3 },
    hideGenerator: true,
    sort: ["source-order"],
    validation: { invalidLink: true, invalidPath: true, notExported: false },
    treatValidationWarningsAsErrors: true,
    highlightLanguages: [
      "bash",
      "console",
      "http",
      "ini",
      "javascript",
      "json",
      "jsonc",
      "mermaid",
      "sh",
      "text",
      "toml",
      "typescript",
      "yaml",
    ],
  });
  app.renderer.on(PageEvent.END, (page) => {
    page.contents = withScrollingTables(page.contents ?? "");
  });
  const project = await app.convert();
  if (project === undefined) return 1;
  for (const document of project.getReflectionsByKind(ReflectionKind.Document)) {
    if (document.isDocument()) document.name = titleOf(document);
  }
  const tasks = tasksByPage();
  app.renderer.on(IndexEvent.PREPARE_INDEX, (event) => {
    event.searchFieldWeights.tasks = TASKS_WEIGHT;
    for (const [at, found] of event.searchResults.entries()) {
      const file = project.files.getReflectionPath(found);
      event.searchFields[at] = { tasks: (file !== undefined && tasks.get(file)) || "" };
    }
  });
  app.validate(project);
  if (app.logger.hasErrors()) return 1;
  await app.generateOutputs(project);
  return app.logger.hasErrors() ? 1 : 0;
}

async function main(out: string): Promise<number> {
  const folder = await mkdtemp(join(ROOT, ".dist-docs-")); // TypeDoc finds documents below the project alone
  try {
    const restApi = join(folder, "rest-api.md");
    await writeFile(restApi, restApiPage());
    return await buildSite(out, restApi);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** As a title counts in TypeDoc's search. */
const TASKS_WEIGHT = 10;
const TASK_ROW = /^\| ([a-z][^|]*) \| (\[.*) \|$/gm;

/** What the README's table says that each page is for, by absolute path: in words that the page itself may not use. */
function tasksByPage(): ReadonlyMap<string, string> {
  const { text } = readPages().find(({ file }) => file === "README.md") ?? { text: "" };
  const rows = [...text.matchAll(TASK_ROW)].flatMap(([, task = "", links = ""]) =>
    [...links.matchAll(/\]\(([^)#]+)\)/g)].map(([, file = ""]) => [join(ROOT, file), task] as const),
  );
  return new Map(rows);
}

/** A wide table scrolls on its own, also by keyboard. */
function withScrollingTables(page: string): string {
  return page
    .replaceAll("<table>", '<div class="scrolls" tabindex="0" role="group" aria-label="Table"><table>')
    .replaceAll("</table>", "</table></div>");
}

/** The first heading, instead of the file name. */
function titleOf({ content, name }: DocumentReflection): string {
  const [, heading = name] = /^# (.+)$/m.exec(content.map(({ text }) => text).join("")) ?? [];
  return heading.replaceAll("`", "");
}

process.exitCode = await main(resolve(process.argv[2] ?? `${ROOT}dist-site`));
