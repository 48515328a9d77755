/** A REST client: stores a fact in a running server and searches it. Any language can do the same. */
const server = process.env.HELMDECK_URL ?? "http://127.0.0.1:3848";
const token = process.env.HELMDECK_TOKEN;
const headers = {
  "Content-Type": "application/json",
  ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
};

async function ask<Answer>(path: string, body?: unknown): Promise<Answer> {
  const options = body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) };
  const response = await fetch(`${server}/api/v1/memory/${path}`, options);
  const answer = (await response.json()) as Answer & { error?: string; message?: string }; // docs/reference/openapi.json
  if (!response.ok) throw new Error(`${response.status} ${answer.error}: ${answer.message}`);
  return answer;
}

const stored = await ask<{ path: string }>("store", { key: "deploy/target", value: "We deploy via Konflux" });
console.log(`stored ${stored.path}`);
const { chunks } = await ask<{ chunks: { title: string }[] }>("corpus?query=how+do+we+deploy");
console.log(`found ${chunks[0]?.title}`);
