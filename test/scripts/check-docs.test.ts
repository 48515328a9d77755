/** The findings of the documentation check, and texts that it accepts. */
import { expect, test } from "vitest";
import { commandProblems, linkProblems, phraseProblems } from "../../scripts/check-docs.ts";
import { anchorsOf } from "../../scripts/docs-pages.ts";
import { readabilityOf } from "../../scripts/docs-readability.ts";

const page = (text: string, file = "docs/here.md") => ({ file, text });

test.each([
  "[the architecture](architecture.md)",
  "[its modules](architecture.md#the-modules)",
  "[this page](#a-heading)\n\n# A heading",
  "[a folder](decisions/)",
  "[elsewhere](https://example.invalid/nothing)",
  "```\n[no link](nowhere.md)\n```",
  "`[no link](nowhere.md)`",
])("nothing is wrong with %s", (text) => {
  expect(linkProblems(page(text))).toEqual([]);
});

test.each([
  ["[a page](nowhere.md)", "docs/here.md:1: nowhere.md: there is no such file"],
  ["\n\n![a picture](pictures/no.png)", "docs/here.md:3: pictures/no.png: there is no such file"],
  [
    "[a heading](architecture.md#no-such)",
    "docs/here.md:1: architecture.md#no-such: there is no such heading",
  ],
  ["[here](#no-such)", "docs/here.md:1: #no-such: there is no such heading"],
  ["| a |\n|---|\n| [cell](nowhere.md) |", "nowhere.md: there is no such file"],
  ["[out](../../etc/passwd)", "docs/here.md:1: ../../etc/passwd: leads out of the repository"],
])("%s is told", (text, problem) => {
  expect(linkProblems(page(text))).toEqual([expect.stringContaining(problem)]);
});

test("a page that shows a console is run by a test, or told", () => {
  const shown = page("```console\n$ helmdeck-memory list\n```\n");
  expect(commandProblems(shown, ['const PAGE = "docs/here.md";'])).toEqual([]);
  expect(commandProblems(shown, ['const PAGE = "docs/there.md";'])).toHaveLength(1);
  expect(commandProblems(page("```sh\nls\n```\n"), [])).toEqual([]);
});

test("anchors are like GitHub's, and repeated headings are numbered", () => {
  const text = "# Keys & backup\n## The `serve` command\n## Again\n## Again\n";
  expect([...anchorsOf(text)]).toEqual(["keys--backup", "the-serve-command", "again", "again-1"]);
});

test("an old phrase is told wherever its line ends, but not in the changelog", () => {
  const text = "What is missing is\nsaid all at once.";
  expect(phraseProblems(page(text))).toHaveLength(1);
  expect(phraseProblems(page(text, "CHANGELOG.md"))).toEqual([]);
});

test("short sentences of short words score higher than long ones, and code does not count", () => {
  const easy = "The cat sat. It was warm. We saw it.";
  const hard =
    "Notwithstanding considerable organisational complications, administrators continuously reinitialise configurations.";
  const [plain, dense] = [readabilityOf(page(easy)), readabilityOf(page(hard))];
  expect(plain.ease).toBeGreaterThan(dense.ease + 50);
  expect(readabilityOf(page(`${easy}\n\n\`\`\`sh\n${hard}\n\`\`\`\n\n| ${hard} |\n|---|\n`))).toEqual(plain);
});
