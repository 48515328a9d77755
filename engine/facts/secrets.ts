/**
 * Credentials are no facts: what secretlint's recommended rules recognise is refused.
 *
 * A model or a person pastes a token, and every later conversation would be shown it; a hostile page has an agent keep one
 * for it. The rules run on every write. A text cannot switch them off: secretlint's own comments in it do not count.
 */
import type { SecretLintRuleContext, SecretLintSourceCode } from "@secretlint/types";
import { HelmdeckError } from "../errors.ts";

/** What of a fact, or of an audit row, is looked through. */
interface Written {
  readonly key: string;
  readonly value: string;
  readonly tags: readonly string[];
}

const OBEYS_COMMENTS = "@secretlint/secretlint-rule-filter-comments";

/** Throws `secret_refused`, which names the field and the kind of credential, and nothing of the text. */
export async function refuseSecrets({ key, value, tags }: Written): Promise<void> {
  // Together: some credentials are known by the name that they are given.
  const together = await kindOfSecret(`${key} = ${value}\n${tags.join("\n")}`);
  if (together === undefined) return;
  for (const [field, text] of [["key", key] as const, ...tags.map((tag) => ["tags", tag] as const)]) {
    const kind = await kindOfSecret(text);
    if (kind !== undefined) throw refused(field, kind);
  }
  throw refused("value", together);
}

/** The kind of credential that a text holds, by secretlint's name for it, such as GITHUB_TOKEN. */
export async function kindOfSecret(text: string): Promise<string | undefined> {
  // 130 kB that a process without a write does not need.
  const { rules } = await import("@secretlint/secretlint-rule-preset-recommend");
  let kind: string | undefined;
  const context = contextFor((found) => {
    kind ??= found;
  });
  const source = sourceOf(text);
  for (const rule of rules.filter(({ meta }) => meta.id !== OBEYS_COMMENTS)) {
    await rule.create(context, {}).file?.(source);
    if (kind !== undefined) return kind;
  }
  return undefined;
}

/** A rule's message quotes what it found, so it is never made. */
function contextFor(onFound: (kind: string) => void): SecretLintRuleContext {
  return {
    sharedOptions: {},
    createTranslator: () => (messageId) => ({ message: "", messageId: String(messageId), data: {} }),
    report: ({ message }) => onFound(message.messageId),
    ignore: () => {},
  };
}

/** A text that lies in no file: rules that look at a file's name, or read it, have none. */
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
    `${field} looks like a credential (${kind}), and memory is not for those: every later conversation would see it. ` +
      "Remember where it is kept instead.",
    { details: { field, kind } },
  );
}
