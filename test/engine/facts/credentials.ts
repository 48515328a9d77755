/** Made-up credentials of many shapes, assembled at run time, so that no scanner reports this repository. */
import { createHash, generateKeyPairSync, type KeyObject } from "node:crypto";

const LOWER = "abcdefghijklmnopqrstuvwxyz";
const DIGITS = "0123456789";
const HEX = "0123456789abcdef";
const LETTERS = LOWER + LOWER.toUpperCase();
const ALPHANUMERIC = LETTERS + DIGITS;
const BASE64 = `${ALPHANUMERIC}+/`;
const URL_SAFE = `${ALPHANUMERIC}-_`;

/** Always the same characters for a length and an alphabet, of every kind that the alphabet has. */
function made(length: number, alphabet = ALPHANUMERIC): string {
  const kinds = [/[a-z]/, /[A-Z]/, /\d/].filter((kind) => kind.test(alphabet));
  for (let attempt = 0; ; attempt += 1) {
    const text = charactersOf(`${attempt} ${length} ${alphabet}`, length, alphabet);
    if (/^[a-z\d]/i.test(text) && kinds.every((kind) => kind.test(text))) return text;
  }
}

function charactersOf(seed: string, length: number, alphabet: string): string {
  const bytes = Array.from({ length: Math.ceil(length / 32) }, (_none, part) => [
    ...createHash("sha256").update(`${seed} ${part}`).digest(),
  ]).flat();
  return bytes
    .slice(0, length)
    .map((byte) => alphabet[byte % alphabet.length])
    .join("");
}

const pem = (key: KeyObject, type: "pkcs8" | "sec1" | "pkcs1", secret?: string): string =>
  String(key.export({ type, format: "pem", ...(secret && { cipher: "aes-256-cbc", passphrase: secret }) }));
const between = (kind: string, body: string): string => {
  const mark = (word: string) => ["", `${word} ${kind}`, ""].join("-----");
  return `${mark("BEGIN")}\n${body.replaceAll(/.{64}(?=.)/g, "$&\n")}\n${mark("END")}\n`;
};
const rsa = generateKeyPairSync("rsa", { modulusLength: 2_048 }).privateKey;
const ed25519 = generateKeyPairSync("ed25519").privateKey;
const ec = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
const address = (scheme: string, user: string, rest: string) =>
  `${scheme}://${[user, `${made(14)}@${rest}`].join(":")}`;
const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
const jwt = [
  encoded({ alg: "HS256", typ: "JWT" }),
  encoded({ sub: "bob", iat: 1_790_000_000 }),
  made(43),
].join(".");
const awsId = `AKIA${made(16, `${LETTERS.slice(26)}234567`)}`;
const awsSecret = made(40, BASE64);

/** What kind of credential, and a text that holds one. */
export const CREDENTIALS: readonly (readonly [what: string, text: string])[] = [
  ["a private key, RSA", pem(rsa, "pkcs1")],
  ["a private key, RSA in PKCS#8", pem(rsa, "pkcs8")],
  ["a private key, Ed25519", pem(ed25519, "pkcs8")],
  ["a private key, EC in PKCS#8", pem(ec, "pkcs8")],
  ["a private key, EC in SEC1", pem(ec, "sec1")],
  ["a private key, encrypted", pem(rsa, "pkcs8", "passphrase")],
  ["a private key of OpenSSH", between("OPENSSH PRIVATE KEY", `b3BlbnNzaC1rZXktdjEA${made(300, BASE64)}`)],
  ["a private key of PGP", between("PGP PRIVATE KEY BLOCK", `Comment: mine\n\nlQ${made(510, BASE64)}`)],
  ["a private key of PuTTY", `PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 1\n${made(48, BASE64)}\n`],
  ["a private key of age", `AGE-SECRET-KEY-1${made(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L")}`],
  ["a private key, quoted", pem(rsa, "pkcs1").replaceAll(/^/gm, "> ")],
  ["a private key, indented", pem(ec, "pkcs8").replaceAll(/^/gm, "    ")],
  ["a private key on one line", pem(ed25519, "pkcs8").replaceAll("\n", " ")],
  ["a private key in JSON", JSON.stringify({ private_key: pem(ed25519, "pkcs8") })],
  ["a private key in base64", `client-key-data: ${Buffer.from(pem(ec, "sec1")).toString("base64")}`],
  ["a private key without its end", pem(rsa, "pkcs8").slice(0, 400)],
  ["a private key as JWK", JSON.stringify(ed25519.export({ format: "jwk" }))],
  ["a private key of WireGuard", `[Interface]\nPrivateKey = ${made(43, BASE64)}=`],
  ["an address, PostgreSQL", address("postgres", "bob", "db.internal:5432/app")],
  ["an address, MySQL", address("mysql", "bob", "db.internal/app")],
  ["an address, MongoDB", address("mongodb+srv", "bob", "cluster.internal/app")],
  ["an address, Redis without user", address("redis", "", "cache.internal:6379/0")],
  ["an address, Redis on this machine", address("redis", "", "localhost:6379")],
  ["an address, AMQP", address("amqps", "bob", "queue.internal/vhost")],
  ["an address, HTTPS", address("https", "bob", "wiki.internal.example.com/home")],
  ["an address, HTTPS without dots", address("https", "bob", "wiki:8443/home")],
  ["an address, SMTP", address("smtp", "bob%40example.com", "mail.internal:587")],
  ["an address with marks in its password", `ftp://bob:${made(5)}!$%40~${made(4)}@files.internal/a`],
  ["AWS, key id and secret in a sentence", `Use the key ${awsId} with ${awsSecret} for the bucket.`],
  ["AWS, key id and secret in a table", `| ${awsId} | ${awsSecret} |`],
  ["AWS, secret by its name", `aws_secret_access_key = ${awsSecret}`],
  ["AWS, temporary key id and secret", `ASIA${made(16, `${LETTERS.slice(26)}234567`)},${awsSecret}`],
  ["Google, API key", `AIza${made(35, URL_SAFE)}`],
  ["Google, OAuth secret", `GOCSPX-${made(28, URL_SAFE)}`],
  ["Google, OAuth token", `ya29.${made(120, URL_SAFE)}`],
  ["Google, refresh token", `1//0${made(60, URL_SAFE)}`],
  [
    "Azure, storage account",
    `AccountName=acme;AccountKey=${made(86, BASE64)}==;EndpointSuffix=core.windows.net`,
  ],
  ["Azure, service bus", `Endpoint=sb://acme.servicebus.windows.net/;SharedAccessKey=${made(43, BASE64)}=`],
  ["Azure, client secret", `${made(3)}8Q~${made(34, `${URL_SAFE}.~`)}`],
  [
    "Azure, shared access signature",
    `https://acme.blob.core.windows.net/c?sv=2024&sig=${made(43)}%3D&se=2027`,
  ],
  ["Vault, service token", `hvs.${made(95, URL_SAFE)}`],
  ["Vault, root token", `hvs.${made(24)}`],
  ["Vault, former token", `s.${made(24)}`],
  ["Hugging Face", `hf_${made(34)}`],
  ["DigitalOcean", `dop_v1_${made(64, HEX)}`],
  ["Telegram", `${made(10, "123456789")}:AA${made(33, URL_SAFE)}`],
  ["Discord, bot", `MT${made(24)}.${made(6, URL_SAFE)}.${made(38, URL_SAFE)}`],
  ["Discord, webhook", `https://discord.com/api/webhooks/${made(19, "123456789")}/${made(68, URL_SAFE)}`],
  ["a JWT", jwt],
  ["a JWT in a header", `Authorization: Bearer ${jwt}`],
  ["a bearer token", `Authorization: Bearer ${made(40)}`],
  ["basic authentication", `Authorization: Basic ${Buffer.from(`bob:${made(12)}`).toString("base64")}`],
  ["a password in quotes", `password = "${made(12)}"`],
  ["a password in quotes, one word", 'password = "swordfish"'],
  ["a password in JSON", JSON.stringify({ user: "bob", password: `${made(8)}!` })],
  ["a password in YAML", `db:\n  password: ${made(12)}\n  host: db.internal`],
  ["a password in an environment file", `DB_PASSWORD=${made(10)}\nDB_HOST=db.internal`],
  ["a short password", "password=hunter2"],
  ["a password at the end of a sentence", "The password: hunter2."],
  ["a password in bold", "**Password:** hunter2"],
  ["a password as an option", `mysql --user bob --password ${made(10)} -h db.internal`],
  ["a password in .netrc", `machine db.internal login bob password ${made(10)}`],
  ["an API key by its name", `api_key: ${made(32, HEX)}`],
  ["an API key in code", `const apiKey = '${made(24)}';`],
  ["a client secret by its name", `client_secret=${made(32)}`],
  ["GitHub", `ghp_${made(36)}`],
  ["GitHub, fine-grained", `github_pat_${made(82)}`],
  ["GitLab", `glpat-${made(20, URL_SAFE)}`],
  ["Slack", `xoxb-${made(12, DIGITS)}-${made(13, DIGITS)}-${made(24)}`],
  ["Slack, webhook", `https://hooks.slack.com/services/T${made(10)}/B${made(10)}/${made(24)}`],
  ["Anthropic", `sk-ant-api03-${made(93, URL_SAFE)}AA`],
  ["OpenAI", `sk-proj-${made(74, URL_SAFE)}T3BlbkFJ${made(74, URL_SAFE)}`],
  ["OpenRouter", `sk-or-v1-${made(64, HEX)}`],
  ["a service with keys like OpenAI's", `sk-${made(32, HEX)}`],
  ["Groq", `gsk_${made(52)}`],
  ["xAI", `xai-${made(80)}`],
  ["Replicate", `r8_${made(37)}`],
  ["npm", `npm_${made(36)}`],
  ["PyPI", `pypi-AgEIcHlwaS5vcmc${made(150, URL_SAFE)}`],
  ["RubyGems", `rubygems_${made(48, HEX)}`],
  ["Docker Hub", `dckr_pat_${made(27, URL_SAFE)}`],
  ["Stripe", ["sk", "live", made(24)].join("_")],
  ["SendGrid", `SG.${made(22)}.${made(43)}`],
  ["Mailgun", `key-${made(32, HEX)}`],
  ["Shopify", `shpat_${made(32, HEX)}`],
  ["Square", `sq0csp-${made(43, URL_SAFE)}`],
  ["Atlassian", `ATATT3xFfGF0${made(170, URL_SAFE)}=${made(8, HEX).toUpperCase()}`],
  ["Notion", `ntn_${made(11, DIGITS)}${made(35)}`],
  ["Linear", `lin_api_${made(40)}`],
  ["Figma", `figd_${made(40, URL_SAFE)}`],
  ["Airtable", `pat${made(14)}.${made(64, HEX)}`],
  ["Cloudflare", `cfut_${made(40)}${made(8, HEX)}`],
  ["Tailscale", `tskey-auth-${made(17)}-${made(32)}`],
  ["Databricks", `dapi${made(32, HEX)}`],
  ["Grafana", `glsa_${made(32)}_${made(8, HEX)}`],
  ["Sentry", `sntrys_${made(80)}`],
  ["New Relic", `NRAK-${made(27, `${LETTERS.slice(26)}${DIGITS}`)}`],
  ["Postman", `PMAK-${made(24, HEX)}-${made(34, HEX)}`],
  ["Terraform", `${made(14)}.atlasv1.${made(64, URL_SAFE)}`],
  ["Pulumi", `pul-${made(40, HEX)}`],
  ["Doppler", `dp.pt.${made(43)}`],
  ["Supabase", `sbp_${made(40, HEX)}`],
  ["Heroku", `HRKU-${made(60, URL_SAFE)}`],
  [
    "1Password",
    `ops_${Buffer.from(JSON.stringify({ email: "bob@example.com", muk: made(90) })).toString("base64")}`,
  ],
  ["a password in plain words", `the wifi password is ${made(8, `${LOWER}${DIGITS}`)}`],
  [
    "a password in plain words, about what",
    `The password for the wifi at home is ${made(10)} and works upstairs`,
  ],
  ["a password in German", `Das WLAN-Passwort lautet ${made(10)}!`],
  ["a password in German, by another word", `mein Kennwort ist ${made(9, `${LOWER}${DIGITS}`)}`],
  ["a password in Spanish", `la contraseña es ${made(9)}`],
  ["a password in French", `Le mot de passe est ${made(9)}.`],
  ["a PIN", `PIN ${made(4, DIGITS)}`],
  ["a PIN in a sentence", `the PIN of my card is ${made(4, DIGITS)}`],
  ["a PIN, as people write it", `my pin is ${made(6, DIGITS)}`],
  ["an AWS key id that is called the key", `${awsId} is the key`],
];

/** Texts about credentials that hold none. */
export const HARMLESS: readonly string[] = [
  "We deploy through Konflux, never by hand.",
  "The API token is in the vault under team/konflux, and is renewed each May.",
  "My password manager is KeePassXC.",
  "the password is kept in Vault",
  "the wifi password is wrong, ask Bob",
  "the password is at least 12 characters",
  "Das Passwort ist im Tresor",
  "connect GPIO pin 4711 to ground",
  "pin 12 is ground",
  "the PIN pad is broken since 2026-11-02",
  "pin the version 2026 of node",
  "password = see vault",
  'password: "see the vault"',
  'password: "see-vault"',
  "password: ask Bob",
  "password = kept in KeePassXC2, entry wifi",
  "Password: rotated 2026-11-01, next in May",
  "token: expires in 90 days",
  "token: 2026-11-01",
  "secret: team/konflux/db2-credentials",
  "secrets: k8s/prod/db-secret-v2",
  "token file: /run/secrets/token2",
  "token = /run/secrets/token2",
  "api_key = op://team/openai/credential2",
  "api key: vault:secret/data/openai#key2",
  "password: arn:aws:secretsmanager:eu-west-1:123456789012:secret:db2",
  "password = $" + "{DB_PASSWORD}",
  'password: "{{ vault_db_password2 }}"',
  "DB_PASSWORD=$DB_PASSWORD2",
  "apiKey: process.env.OPENAI_API_KEY2",
  'token = os.environ["TOKEN2"]',
  "password: <your-password-1>",
  "password=********",
  'password = "xxxxxxxxxxxx"',
  'password = "changeme"',
  'password = "replace-me"',
  "password: `DB_PASSWORD_2`, from the environment",
  'password = "YOUR_PASSWORD_1"',
  'client_secret = "required"',
  "secret: true",
  "password: null",
  '{ "type": "password", "token": "string" }',
  "max_tokens: 200000 for gpt-4o-mini",
  "tokens: 128k context",
  "token limit: 8192tokens",
  "Auth: OAuth2, token endpoint https://login.example.com/oauth2/v2.0/token",
  "Authorization: Bearer <token>",
  "Send the header Authorization: Bearer $TOKEN.",
  "A JWT has three parts, header.payload.signature, and begins with eyJ.",
  "Its JWT header is eyJhbGciOiJIUzI1NiJ9, which only names the algorithm.",
  "A private key begins with -----BEGIN PRIVATE KEY----- and ends with -----END PRIVATE KEY-----.",
  `${["", "BEGIN PRIVATE KEY", ""].join("-----")}\n...\n${["", "END PRIVATE KEY", ""].join("-----")}`,
  `${["", "BEGIN PUBLIC KEY", ""].join("-----")}\n${made(64, BASE64)}\n${["", "END PUBLIC KEY", ""].join("-----")}`,
  `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${made(43, BASE64)} bob@laptop`,
  `key fingerprint SHA256:${made(43, BASE64)}`,
  JSON.stringify({ kty: "OKP", crv: "Ed25519", x: made(43, URL_SAFE) }),
  "AKIAIOSFODNN7EXAMPLE",
  "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
  "AKIAI44QH8DHBEXAMPLE with je7MtGbClwBF/2Zp9Utk/h3yCo8nvbEXAMPLEKEY",
  `Our CI uses the key id ${awsId}; the secret is in Vault.`,
  `${awsId} was used for commit ${made(40, HEX)}`,
  "AWS account: 1234-5678-9012",
  "https://wiki.internal/home?user=bob",
  "https://user:password@example.com is how it is written.",
  "postgres://user:pass@localhost/app",
  "redis://:$" + "{REDIS_PASSWORD}@cache.internal:6379",
  "redis://cache.internal:6379/0",
  "git+ssh://git@github.com:acme/app.git",
  "http://localhost:8080/@scope/package:latest@2",
  "Meet at 10:30 @ the office, see https://meet.example.com/abc",
  "Commit 4b825dc642cb6eb9a060e54bf8d69288fbee4904 broke the build.",
  "6f1ed002-ab5b-41f5-9d3c-0a3f2b7f0c11",
  "mem_0123456789abcdef0123456789abcdef",
  "image: registry.example.com/app@sha256:4b825dc642cb6eb9a060e54bf8d69288fbee49044b825dc642cb6eb9a060e54b",
  `integrity sha512-${made(86, BASE64)}==`,
  "The key-value store key-0123 is sk-2 in the list, task-force-2026-planning-and-review.",
  "Phone 4912345678:ask for Bob",
  "s.replace(/a/g, b)",
];
