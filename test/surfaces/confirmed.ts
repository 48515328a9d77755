/** Every surface on which a person sees something first and confirms it then: what it shows, and the confirmation. */
import type { Memory } from "../../app/memory.ts";
import type { RemoteMemory } from "../../app/remote/remote-memory.ts";
import { HELMDECK_MEMORY } from "../../cli/index.ts";
import { memoryPack } from "../../packs/shipped/memory-packs.ts";
import { makePages } from "../../pages/pages.ts";
import { makeForgetTool } from "../../plugin/agent-tools.ts";
import { makeApprovalHook } from "../../plugin/approval-hook.ts";
import type { SlashContext } from "../../plugin/openclaw-api.ts";
import { makeSlashCommand } from "../../plugin/slash-command.ts";
import { createServer } from "../../server/create-server.ts";
import { mintToken } from "../../server/tokens.ts";
import { remoteOf } from "../app/remote/engine/served-engine.ts";
import { runOnTerminal } from "../cli/terminal.ts";
import { FORMS, fieldsOf } from "../pages/rig.ts";
import { MAIN_CONTEXT, policyFor, recordingLogger } from "../plugin/fake-host.ts";
import { accessTo } from "../plugin/fake-memory.ts";
import { mcpClientOf } from "../server/fixtures/mcp-client.ts";
import { testServerContext } from "../server/fixtures/mcp-context.ts";

/** Shows the preview. The answer confirms it. */
type Shows = (target: string) => Promise<() => Promise<unknown>>;

export interface Confirmed {
  readonly name: string;
  readonly shows: Shows;
}

/** A served engine, and memories of its clients. */
export interface Served {
  readonly open: () => RemoteMemory;
  readonly close: () => Promise<void>;
}

export async function serve(memory: Memory): Promise<Served> {
  const secret = Buffer.from("a secret of these tests, long enough");
  const server = createServer(testServerContext({ memory, packs: [] }), { secret, requestsPerMinute: 0 });
  const { url, close } = await server.listen({ port: 0 });
  const { token } = await mintToken(secret, { subject: "main", ttlSeconds: 86_400 }, Date.now());
  return { open: () => remoteOf(url, { tokenOf: async () => token, now: Date.now }), close };
}

/** Forget a scope. `remote`: the same memory, as a client of a served engine has it. */
export function forgetSurfaces(memory: Memory, remote: Memory): readonly Confirmed[] {
  return [
    { name: "a page", shows: onPages(memory, "/forget", (scope) => ({ scope })) },
    { name: "an approval in the gateway", shows: withApproval(memory) },
    { name: "a chat", shows: inChat(memory) },
    { name: "REST", shows: overRest(memory) },
    { name: "MCP", shows: overMcp(memory) },
    { name: "an approval in a gateway with a served engine", shows: withApproval(remote) },
    { name: "a chat with a served engine", shows: inChat(remote) },
  ];
}

/** Give a fact the value "Mine." */
export function editSurfaces(memory: Memory): readonly Confirmed[] {
  const superseding = (key: string) => ({ key: `new/${key}`, value: "Mine." });
  return [
    { name: "an edit on a page", shows: onPages(memory, "/edit", () => ({ value: "Mine." })) },
    { name: "a supersede on a page", shows: onPages(memory, "/supersede", superseding) },
    { name: "a new fact on a page", shows: onPages(memory, "/remember", (key) => ({ key, value: "Mine." })) },
    { name: "an undo on a page", shows: onPages(memory, "/undo", () => ({})) },
  ];
}

function onPages(
  memory: Memory,
  path: string,
  fields: (target: string) => Readonly<Record<string, string>>,
): Shows {
  const viewer = {
    memory,
    subject: "main",
    choices: [],
    sees: "values",
    changes: FORMS,
    seesCallers: false,
  } as const;
  const pages = makePages({
    base: "",
    frameAncestors: "'self'",
    now: Date.now,
    viewerOf: async () => viewer,
  });
  return async (target) => {
    const address = `http://localhost${path}${path === "/forget" ? "" : `?key=${encodeURIComponent(target)}`}`;
    const send = async (body?: Readonly<Record<string, string>>) => {
      const sent = body && { method: "POST", body: new URLSearchParams(body) };
      const response = await pages.request(address, sent);
      const { status, headers } = response;
      return fieldsOf({ status, headers, text: await response.text(), location: undefined });
    };
    const first = path === "/forget" ? {} : await send();
    const preview = path === "/undo" ? first : await send({ ...first, ...fields(target), step: "preview" });
    return () => send({ ...preview, step: "confirm" });
  };
}

function withApproval(memory: Memory): Shows {
  const parts = { access: accessTo(memory), policy: policyFor(), log: recordingLogger() };
  const hook = makeApprovalHook(parts);
  const tool = makeForgetTool(parts, MAIN_CONTEXT);
  return async (scope) => {
    const params = { scope };
    const context = { ...MAIN_CONTEXT, requester: { channel: "webchat" } };
    const decision = { params, ...(await hook({ toolName: tool.name, params }, context)) };
    return () => tool.execute("call", decision.params);
  };
}

function inChat(memory: Memory): Shows {
  const command = makeSlashCommand("forget", {
    access: accessTo(memory),
    policy: policyFor(),
    log: recordingLogger(),
  });
  const type = async (args: string) => {
    const context: object = { ...MAIN_CONTEXT, args };
    return (await command.handler(context as SlashContext)).text ?? ""; // all that it reads
  };
  return async (scope) => {
    const [, confirm = ""] = /: \/forget (.*)$/.exec(await type(scope)) ?? [];
    return () => type(confirm);
  };
}

function overRest(memory: Memory): Shows {
  // Without a token, REST uses another name for its caller.
  const ofMain: Memory = { ...memory, forget: (_caller, input) => memory.forget("main", input) };
  const { app } = createServer(testServerContext({ memory: ofMain, packs: [] }), { requestsPerMinute: 0 });
  const forget = async (body: object) => {
    const headers = { "Content-Type": "application/json" };
    const init = { method: "POST", headers, body: JSON.stringify(body) };
    return (await (await app.request("/api/v1/memory/forget", init)).json()) as { revision?: number }; // its documented shape
  };
  return async (scope) => {
    const { revision } = await forget({ scope, dry_run: true });
    return () => forget({ scope, up_to: revision });
  };
}

function overMcp(memory: Memory): Shows {
  const context = testServerContext({ memory, packs: [memoryPack("forget", memory)] });
  const connected = mcpClientOf(context, "main");
  const forget = async (input: Readonly<Record<string, unknown>>) => {
    const answer = await (await connected).callTool({ name: "helmdeck__memory_forget", arguments: input });
    return answer.structuredContent as { readonly revision?: number }; // its documented shape
  };
  return async (scope) => {
    const { revision } = await forget({ scope, dry_run: true });
    return () => forget({ scope, up_to: revision });
  };
}

export interface CommandPlace {
  /** Options that name the memory. */
  readonly where: readonly string[];
  readonly keyPath: string;
  /** Instead of a memory on this machine. */
  readonly served?: Served;
}

/** A command that asks, or reads a value, after it has read memory. */
export function onCommandLine(
  { where, keyPath, served }: CommandPlace,
  args: (target: string) => readonly string[],
  answer: string,
): Shows {
  return async (target) => {
    const { promise: question, resolve: asked } = Promise.withResolvers<void>();
    const { promise: confirmed, resolve: confirm } = Promise.withResolvers<void>();
    const typed = async () => {
      asked();
      await confirmed;
      return answer;
    };
    const [command = "", ...others] = args(target);
    const running = runOnTerminal([command, ...where, ...others], {
      ...{ homeFolder: "/nowhere", env: { HELMDECK_MEMORY_KEY_FILE: keyPath }, typed },
      ...(served && { line: { ...HELMDECK_MEMORY, remote: async () => served.open() } }),
    });
    await Promise.race([question, running]);
    return () => {
      confirm();
      return running;
    };
  };
}
