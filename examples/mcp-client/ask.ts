/** An MCP client: starts `helmdeck-memory mcp`, stores a fact and searches it with the same tools as a model. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const client = new Client({ name: "example", version: "1.0.0" });
const env = Object.fromEntries(Object.entries(process.env).map(([name, value]) => [name, value ?? ""]));
await client.connect(
  new StdioClientTransport({ command: "npx", args: ["helmdeck-memory", "mcp"], env, stderr: "ignore" }),
);
try {
  const { tools } = await client.listTools();
  console.log(`${tools.length} tools`);
  await client.callTool({
    name: "helmdeck__memory_store",
    arguments: { key: "deploy/target", value: "We deploy via Konflux" },
  });
  const found = await client.callTool({
    name: "helmdeck__memory_search",
    arguments: { query: "how do we deploy" },
  });
  console.log(JSON.stringify(found).includes("deploy/target") ? "found deploy/target" : "found nothing");
} finally {
  await client.close();
}
