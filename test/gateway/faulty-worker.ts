/**
 * A worker that fails as the query demands, to replace the real one in an installed plugin. A search for "hang …" is never answered, one
 * for "throw …" fails with a text full of secrets, one for "malformed …" returns hits on which the host would drop the whole search,
 * "die …" ends the worker, and "secret …" answers correctly but with hostile text.
 */
import { parentPort } from "node:worker_threads";
import { createBirpc } from "birpc";

const GOOD = {
  ...{ kind: "fact", key: "good", category: "user_facts", createdAt: 0, updatedAt: 0 },
  path: "helmdeck/user_facts/good.md",
  score: 0.9,
  snippet: "the good hit",
  startLine: 1,
  endLine: 1,
  // Sure enough to be added unasked.
  parts: { isNamed: { value: 1, weight: 1 } },
};

/** Two hits with the same score, one of them without a path, make the host's merge fail. */
const MALFORMED = [
  { ...GOOD, path: undefined },
  { ...GOOD, score: Number.NaN },
  { ...GOOD, score: "0.9" },
  { ...GOOD, snippet: null },
  { ...GOOD, kind: "system" },
  { ...GOOD, path: "../../etc/passwd" },
  null,
  "a hit",
  { ...GOOD, path: "helmdeck/user_facts/\u202Egood.md" },
  GOOD,
];

function search({ query }: { readonly query: string }): unknown {
  const [fault] = query.split(" ");
  if (fault === "hang") return new Promise(() => {});
  if (fault === "die") process.exit(3);
  if (fault === "throw") {
    const message = "key 0123456789abcdef in /home/someone/secret";
    return { ok: false, error: { code: "internal", message, details: { key: "0123456789abcdef" } } };
  }
  if (fault === "nothing") return { ok: true, value: undefined };
  return { ok: true, value: { results: fault === "malformed" ? MALFORMED : [GOOD], mode: "keyword" } };
}

function call(method: string, args: readonly unknown[]): unknown {
  // Memory.search takes a subject and a query.
  if (method === "search") return search(args[1] as { readonly query: string });
  if (method === "status")
    return {
      ok: true,
      value: { state: "ready", databasePath: "", keySource: "", driver: "", mode: "keyword" },
    };
  if (method === "myMemory") return { ok: true, value: { scope: "", fetchedAt: 0, categories: [] } };
  return { ok: true, value: undefined };
}

createBirpc<object, { call: typeof call }>(
  { call },
  {
    post: (message) => parentPort?.postMessage(message),
    on: (listener) => parentPort?.on("message", listener),
    timeout: -1,
  },
);
