/**
 * Refuses credentials, as recognised by secretlint's recommended rules and our own.
 *
 * A person or a model may paste a token, or a hostile page may make an agent store one, and every later conversation would see
 * it. The rules run on every fact, import and run record. secretlint's own comments in a text cannot switch them off.
 */
import type { SecretLintRuleContext, SecretLintSourceCode } from "@secretlint/types";
import { HelmdeckError } from "../errors.ts";
import { kindOfShape } from "./credential-shapes.ts";

/** The scanned parts of a fact or an audit row. */
interface Written {
  readonly key: string;
  readonly value: string;
  readonly category: string;
  readonly tags: readonly string[];
}

const OBEYS_COMMENTS = "@secretlint/secretlint-rule-filter-comments";

/** Throws `secret_refused`, naming the field and the kind of credential, never its text. */
export async function refuseSecrets({ key, value, category, tags }: Written): Promise<void> {
  // Joined: some credentials are recognised only next to their name.
  const together = await kindOfSecret(`${key} = ${value}\n${[category, ...tags].join("\n")}`);
  if (together === undefined) return;
  const names = [["key", key], ["category", category], ...tags.map((tag) => ["tags", tag] as const)] as const;
  for (const [field, text] of names) {
    const kind = await kindOfSecret(text);
    if (kind !== undefined) throw refused(field, kind);
  }
  throw refused("value", together);
}

/** The kind of credential in a text, such as GITHUB_TOKEN. */
export async function kindOfSecret(text: string): Promise<string | undefined> {
  for (const shown of new Set([text, plainText(text)])) {
    const kind = (await kindByRules(shown)) ?? kindOfShape(shown);
    if (kind !== undefined) return kind;
  }
  return undefined;
}

/** The text of a JSON string, without hidden characters, and apart from scripts that are written without spaces. */
function plainText(text: string): string {
  return text
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "")
    .replaceAll(/\\([nrt"'])/g, (_all, escaped: string) => (/[nrt]/.test(escaped) ? "\n" : escaped))
    .replaceAll(/(?<=\P{ASCII})(?=[A-Za-z\d])/gu, " ");
}

async function kindByRules(text: string): Promise<string | undefined> {
  rules ??= await loadRules(); // not the promise: a failed loading must be tried again
  let kind: string | undefined;
  const context = contextFor((found) => {
    kind ??= found;
  });
  const source = sourceOf(text);
  for (const rule of rules) {
    await rule.create(context, {}).file?.(source);
    if (kind !== undefined) return kind;
  }
  return undefined;
}

let rules: Awaited<ReturnType<typeof loadRules>> | undefined;

/** 130 kB that a process without writes does not need. */
async function loadRules() {
  const preset = await import("@secretlint/secretlint-rule-preset-recommend");
  return preset.rules.filter(({ meta }) => meta.id !== OBEYS_COMMENTS);
}

/** A rule's message quotes its match, so messages are never built. */
function contextFor(onFound: (kind: string) => void): SecretLintRuleContext {
  return {
    sharedOptions: {},
    createTranslator: () => (messageId) => ({ message: "", messageId: String(messageId), data: {} }),
    report: ({ message }) => onFound(message.messageId),
    ignore: () => {},
  };
}

/** The text without a file, for rules that look at a file's name or read it. */
function sourceOf(content: string): SecretLintSourceCode {
  const start = { line: 1, column: 0 };
  return {
    content,
    hasBOM: false,
    filePath: undefined,
    physicalFilePath: undefined,
    contentType: "text",
    ext: "",
    getFilePath: () => undefined,
    getPhysicalFilePath: () => undefined,
    locationToRange: () => [0, content.length],
    rangeToLocation: () => ({ start, end: start }),
    positionToIndex: () => 0,
    indexToPosition: () => start,
  };
}

function refused(field: string, kind: string): HelmdeckError {
  return new HelmdeckError(
    "secret_refused",
    `${field} looks like a credential (${kind}). Memory does not store credentials, because every later conversation would see them. ` +
      "Remember where the credential is kept instead.",
    { details: { field, kind } },
  );
}
