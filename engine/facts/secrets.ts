/**
 * Refuses credentials, as recognised by secretlint's recommended rules and by shapes of our own that those rules lack: private
 * keys of any kind, addresses with passwords, signed tokens, named passwords, and tokens of more services.
 *
 * A person or a model may paste a token, or a hostile page may make an agent store one, and every later conversation would see
 * it. The rules run on every fact, import and run record; each expression starts with fixed characters or is bounded, because it
 * runs over text of anybody. secretlint's own comments in a text cannot switch them off.
 */
import type { SecretLintRuleContext, SecretLintSourceCode } from "@secretlint/types";
import { HelmdeckError } from "../errors.ts";

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

/** Tokens that can be recognised anywhere by how they begin. */
const TOKENS: Readonly<Record<string, RegExp>> = {
  AIRTABLE_TOKEN: /\bpat[A-Za-z0-9]{14}\.[0-9a-f]{64}/g,
  ATLASSIAN_TOKEN: /\bAT(?:ATT|CTT|BBT)3?[\w-]{60}/g,
  AZURE_ACCOUNT_KEY: /\b(?:AccountKey|SharedAccessKey)=[A-Za-z0-9+/]{42}/g,
  AZURE_CLIENT_SECRET: /(?<![\w~.-])[\w~.-]{3}\dQ~[\w~.-]{31,34}/g,
  AZURE_SHARED_ACCESS_SIGNATURE: /[?&]sig=[A-Za-z0-9%]{43,100}/g,
  DIGITALOCEAN_TOKEN: /\bdo[oprt]_v1_[0-9a-f]{64}/g,
  DISCORD_TOKEN: /\b[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27}/g,
  DISCORD_WEBHOOK: /\bdiscord(?:app)?\.com\/api\/webhooks\/\d{10,25}\/[\w-]{60}/g,
  DOPPLER_TOKEN: /\bdp\.(?:audit|ct|pt|sa|scim|st)\.[\w.-]{40}/g,
  GITLAB_TOKEN: /\bgl(?:agent|cbt|dt|ffct|ft|imt|oas|ptt|rt|rtr|soat|wt)-[\w-]{20}/g,
  GOOGLE_API_KEY: /\bAIza[\w-]{35}/g,
  GOOGLE_OAUTH_SECRET: /\bGOCSPX-[\w-]{28}/g,
  GOOGLE_OAUTH_TOKEN: /\b(?:ya29\.|1\/\/0)[\w-]{30}/g,
  HASHICORP_VAULT_TOKEN: /\bhv[bsr]\.[\w-]{24}/g,
  HASHICORP_VAULT_FORMER_TOKEN:
    /(?<![\w.])s\.(?=[A-Za-z]{0,23}\d)(?=[a-z\d]{0,23}[A-Z])[A-Za-z\d]{24}(?![\w(]|\.\w)/g,
  HEROKU_TOKEN: /\bHRKU-[\w-]{36}/g,
  HUGGINGFACE_TOKEN: /\bhf_[A-Za-z0-9]{34}/g,
  MAILGUN_KEY: /\bkey-[0-9a-f]{32}/g,
  NEW_RELIC_KEY: /\bNRAK-[A-Z0-9]{27}/g,
  ONEPASSWORD_TOKEN: /\bops_eyJ[A-Za-z0-9+/]{60}/g,
  POSTMAN_KEY: /\bPMAK-[0-9a-f]{24}-[0-9a-f]{34}/g,
  PULUMI_TOKEN: /\bpul-[0-9a-f]{40}/g,
  PYPI_TOKEN: /\bpypi-AgE[\w-]{50}/g,
  REPLICATE_TOKEN: /\br8_[A-Za-z0-9]{37}/g,
  RUBYGEMS_KEY: /\brubygems_[0-9a-f]{48}/g,
  SECRET_KEY: /\bsk-(?:[a-z\d]{1,10}-){0,3}(?=[A-Za-z]{0,40}\d)[A-Za-z\d]{24}/g,
  SENTRY_TOKEN: /\bsntry[su]_[A-Za-z0-9+/=_]{40}/g,
  SQUARE_SECRET: /\bsq0csp-[\w-]{43}/g,
  SUPABASE_TOKEN: /\bsbp_[0-9a-f]{40}/g,
  TELEGRAM_BOT_TOKEN: /(?<!\d)\d{8,10}:AA[\w-]{33}(?![\w-])/g,
  TERRAFORM_TOKEN: /\b[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60}/g,
  XAI_KEY: /\bxai-[A-Za-z0-9]{70}/g,
};

const KEY_BEGINS = /-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}/g;
const OTHER_KEYS =
  /\bAGE-SECRET-KEY-(?:PQ-)?1[A-Z0-9]{50}|\bPrivate-Lines: \d{1,3}[\s>|]{1,8}[A-Za-z0-9+/]{40}/g;
/** `-----BEGIN` in base64. */
const ENCODED_KEY = /LS0tLS1CRUdJTi[A-Za-z0-9+/]{60,4000}/g;
/** A key may have headers before its first line. */
const KEY_BEGINS_WITHIN = 400;
const KEY_LINE = /[A-Za-z0-9+/]{40}/g;
const JSON_WEB_KEY = /"[dk]"\s{0,4}:\s{0,4}"[\w-]{20}/;

const SIGNED_TOKEN = /\b(eyJ[\w-]{10,2000})\.[\w-]{0,8000}\.[\w-]{4}/g;

const ADDRESS = /\b[a-z][a-z\d+.-]{1,30}:\/\/([^\s:/@"'<>]{0,100}):([^\s/@?#"'<>]{3,200})@[^\s/@]/gi;
/** Stands for a password in examples of addresses. */
const PASSWORD_IN_EXAMPLES =
  /^(?:my|your|the|some)?_?(?:pass|password|passwd|pwd|pw|secret|token|user|root|admin|xxx+)$/i;

const AWS_KEY_ID = /\b(?:AKIA|ASIA)[A-Z2-7]{16}\b/;
const AWS_KEY_SAID =
  /\b(?:AKIA|ASIA)(?![A-Z2-7]{0,9}EXAMPLE)[A-Z2-7]{16} (?:is|ist) (?:the|my|our|der|mein|unser) (?:\p{L}{1,20} )?(?:key|Schlüssel)\b/iu;
const AWS_SECRET = /(?<![A-Za-z\d/+=])[A-Za-z\d/+]{40}(?![A-Za-z\d/+=])/g;

const NAME =
  "(?<name>password|passwd|passwort|passphrase|passcode|pwd|_pass|secret|token|(?:access|api|auth|client|encryption|master|memory|private|secret|shared|signing)[ _-]?key)";
const VALUE = String.raw`(?:(?<quote>["'\x60])(?<quoted>[^\s"'\x60]{1,500})\k<quote>|(?<bare>[^\s"'\x60,;]{1,500})(?:(?=(?<end>[,;"'\x60]|[^\S\n]{0,4}(?:[|]|$)))|))`;
/** `password = "…"`, `**Token:** …`, `"apiKey": "…"` */
const ASSIGNED = new RegExp(
  String.raw`${NAME}["'\x60*_]{0,3}[^\S\n]{0,4}(?::=|=>|[:=])[*_]{0,2}[^\S\n]{0,4}${VALUE}`,
  "gimu",
);
/** `--password …`, and `login … password …` of .netrc. */
const GIVEN = new RegExp(
  String.raw`(?:--(?:[a-z]{1,20}-)?|\blogin[^\S\n]{1,4}\S{1,100}[^\S\n]{1,4})${NAME}[^\S\n]{1,4}${VALUE}`,
  "gimu",
);
/** `the password for the wifi is …`, `Das Passwort ist …`, `la contraseña es …`. */
const SAID = new RegExp(
  String.raw`(?<![\p{L}\d])(?<name>password|passwort|kennwort|passphrase|passcode|contraseña|mot de passe)(?:[^\S\n]\p{L}{1,20}){0,5}?[^\S\n](?:is|ist|lautet|es|est)[^\S\n]{1,4}${VALUE}`,
  "gimu",
);
/** Of a card, phone or door: `PIN 4711`, `the PIN of my card is 4711`; not `pin 12` of a board. */
const PIN =
  /(?<![\p{L}\d])(?:PIN|[Pp]in(?:[- ]?[Cc]ode| (?:\p{L}{1,20} ){0,3}(?:is|ist|lautet)))(?:[^\S\n]\p{L}{1,20}){0,4}?[^\S\n]?[:=]?[^\S\n]\d{4,8}(?![\d.:/-]*\d)/u;
const AUTHORIZATION = /\b(?:bearer|basic)[^\S\n]{1,4}([\w.~+/-]{20,2000})/gi;

const IS_FILLED_IN = /^\$|\$[{(]|\{\{|^<|^%\w+%$|\w[([]|\*{3}|\.{3}|…|EXAMPLE|(.)\1{5}/;
const IS_DESCRIBED =
  /your|example|change.?me|placeholder|redacted|replace|hidden|sample|dummy|vault|keychain|keepass|1password|bitwarden|see[-_]|[-_](?:password|secret|token)|^(?:password|secret|token)(?:[-_]|$)|^(?:true|false|null|none|undefined|unknown|required|optional|disabled|enabled|default|string|empty)$/i;
/** Where a secret is kept, such as `team/db`, `vault:db`, `settings.key` or `DB_PASSWORD`. */
const IS_PLACE =
  /^(?:[A-Za-z][\w+.-]*:|[~.]?\/|[\w@~-]{1,19}(?:[/.][\w@~-]{1,19})+\/?$|[A-Z\d]+(?:_[A-Z\d]+)+$)/;
/** This long, it is random rather than a description. */
const RANDOM_CHARACTERS = 24;
const LEAST_PASSWORD = 6;
const LEAST_TOKEN = /[A-Za-z\d]{12}/;

/** The kind of credential in a text. */
function kindOfShape(text: string): string | undefined {
  if (holdsPrivateKey(text)) return "PrivateKey";
  if (text.matchAll(ADDRESS).some(hasPassword)) return "AddressWithPassword";
  if (text.matchAll(SIGNED_TOKEN).some(namesAlgorithm)) return "JsonWebToken";
  if (holdsAwsPair(text)) return "AWSSecretAccessKey";
  for (const [kind, token] of Object.entries(TOKENS)) {
    if (text.matchAll(token).some(([match]) => isReal(match))) return kind;
  }
  if (text.matchAll(AUTHORIZATION).some(([, token = ""]) => isToken(token))) return "Authorization";
  if (PIN.test(text)) return "Pin";
  return [ASSIGNED, GIVEN, SAID].some((named) => text.matchAll(named).some(isSecretValue))
    ? "NamedSecret"
    : undefined;
}

function holdsPrivateKey(text: string): boolean {
  if (holdsPem(text) || text.matchAll(OTHER_KEYS).some(([key]) => isReal(key))) return true;
  if (text.includes('"kty"') && JSON_WEB_KEY.test(text)) return true;
  return text.matchAll(ENCODED_KEY).some(([key]) => holdsPem(Buffer.from(key, "base64").toString("latin1")));
}

function holdsPem(text: string): boolean {
  return text.matchAll(KEY_BEGINS).some(({ 0: mark, index }) => {
    const begin = index + mark.length;
    const lines = text.slice(begin, begin + KEY_BEGINS_WITHIN).matchAll(KEY_LINE);
    return lines.some(([line]) => isMixed(line));
  });
}

function hasPassword([, user = "", password = ""]: RegExpExecArray): boolean {
  return password !== user && isReal(password) && !PASSWORD_IN_EXAMPLES.test(password);
}

/** The header of a JSON Web Token is JSON that names an algorithm. */
function namesAlgorithm([, header = ""]: RegExpExecArray): boolean {
  return Buffer.from(header, "base64url").toString().includes('"alg"');
}

/** Without its secret, a key id is no credential, unless somebody calls it the key. */
function holdsAwsPair(text: string): boolean {
  if (AWS_KEY_SAID.test(text)) return true;
  if (!AWS_KEY_ID.test(text)) return false;
  return text.matchAll(AWS_SECRET).some(([secret]) => isMixed(secret) && isReal(secret));
}

function isSecretValue({ groups = {} }: RegExpExecArray): boolean {
  const { name = "", quoted, bare, end } = groups;
  const value = quoted ?? bare ?? "";
  if (isElsewhere(value)) return false;
  if (!/pass|pwd|kennwort|contraseña/i.test(name)) return isToken(value);
  if (quoted !== undefined) return value.length >= LEAST_PASSWORD;
  // Followed by more words, it may begin a sentence.
  const isAlone = end !== undefined || /[)\]}>]$/.test(value);
  if (value.length < LEAST_PASSWORD || !/[a-z]/i.test(value)) return false;
  return isAlone ? /[\d!#$%&*+?@^~]/.test(value) : isMixed(value) && value.length > LEAST_PASSWORD;
}

/** A placeholder, a description, or where the secret is kept. */
function isElsewhere(value: string): boolean {
  if (!isReal(value) || IS_PLACE.test(value)) return true;
  return value.length < RANDOM_CHARACTERS && IS_DESCRIBED.test(value);
}

function isReal(text: string): boolean {
  return !IS_FILLED_IN.test(text);
}

function isToken(value: string): boolean {
  return isReal(value) && LEAST_TOKEN.test(value) && /\d/.test(value) && /[a-z]/i.test(value);
}

function isMixed(text: string): boolean {
  return /[a-z]/.test(text) && /[A-Z]/.test(text) && /\d/.test(text);
}
