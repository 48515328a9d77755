/** Everything that the plugin registers with OpenClaw: the same in every mode. Nothing is opened here. */

import { homedir } from "node:os";
import type { Finding } from "../app/memory.ts";
import { type OpenClawPlace, openClawPlace, workspaceOf } from "../app/traces/openclaw-place.ts";
import { statusReply } from "../app/wire/replies.ts";
import { defaultAgent, knownAgents, liveConfig, makeAccessPolicy } from "./access-policy.ts";
import { AGENT_TOOLS } from "./agent-tools.ts";
import { APPROVAL_TIMEOUT_MS, makeApprovalHook } from "./approval-hook.ts";
import type { makeAuditHook } from "./audit-hook.ts";
import { type PluginConfig, parseConfig } from "./config.ts";
import { hostWarnings, speaksUp, unaskedWarnings } from "./examine-plugin.ts";
import { subjectOf } from "./identity.ts";
import { type MemoryAccess, makeMemoryAccess } from "./memory-access.ts";
import { makeService } from "./memory-service.ts";
import type { GatewayHandler, HostApi, HostConfig } from "./openclaw-api.ts";
import { CLI_DESCRIPTION, isForPrograms, registerHelmdeckCli } from "./openclaw-cli.ts";
import { registerPagesTab } from "./pages-tab.ts";
import { canSpeak } from "./persons-turn.ts";
import { failureOf } from "./plugin-failure.ts";
import { makePromptPreparation } from "./prompt.ts";
import { makeRecallHook, noteContext } from "./recall-hook.ts";
import { processReceipts } from "./receipts.ts";
import { HOOK_TIMEOUT_MS, ROUTED_TOOLS, routeToolCall } from "./routing-hook.ts";
import { recordReader, tellsOrigins } from "./session-record.ts";
import type { Lease } from "./shared-memory.ts";
import { makeSlashCommand } from "./slash-command.ts";
import { openRemote } from "./start-memory.ts";
import { ANSWER_DEADLINE_MS, makeSupplement } from "./supplement.ts";
import { CHAT_COMMANDS, type ChatCommand } from "./tool-names.ts";
import { withinDeadline } from "./within-deadline.ts";

/** Opens memory for a registration, at first use. */
export type StartMemory = (
  api: HostApi,
  config: PluginConfig,
  hostConfig: () => HostConfig,
) => Promise<Lease>;

/** Agents beyond this number are indexed when they first ask. */
const MOST_WARMED = 20;

export function register(api: HostApi, startMemory: StartMemory): void {
  const config = parseConfig(api.pluginConfig);
  const hostConfig = liveConfig(api);
  const access = makeMemoryAccess(() => startMemory(api, config, hostConfig));
  api.lifecycle.onDispose?.(() => access.dispose());
  const policy = makeAccessPolicy({ config, hostConfig, readRecord: recordReader(api), log: api.logger });
  const parts = { access, policy, log: api.logger, workspaceOf: notesFinder(api, hostConfig) };

  api.registerMemoryCorpusSupplement(makeSupplement({ ...parts, renewOnUse: config.renewOnUse }));
  if (config.promptHints) api.registerMemoryPromptPreparation(makePromptPreparation(parts));
  api.on("before_tool_call", (event) => routeToolCall(event, config), {
    matcher: ROUTED_TOOLS,
    timeoutMs: HOOK_TIMEOUT_MS,
  });
  api.on("before_tool_call", makeApprovalHook(parts), { timeoutMs: APPROVAL_TIMEOUT_MS });
  const receipts = processReceipts();
  if (speaksUp(config) && canSpeak(versionOf(api))) {
    const hooks = { ...parts, rules: config, receipts };
    api.on("before_prompt_build", makeRecallHook(hooks), { requiresToolAuthority: true });
    if (config.captureRequests === "store") {
      api.on("llm_input", (event, context) => noteContext(event, context, receipts));
      api.on("agent_end", async (event, context) => {
        const { captureAtEnd } = await import("./on-demand.ts");
        await captureAtEnd(event, context, hooks);
      });
    }
  }
  // A running helmdeck records its pack runs itself; a row from here would count a run twice.
  const records = config.auditServers.length > 0 || config.auditTools === "all";
  if (records && config.source.kind !== "helmdeck") {
    const recording = { ...parts, servers: config.auditServers, rules: config };
    let record: ReturnType<typeof makeAuditHook> | undefined;
    api.on("after_tool_call", async (event, context) => {
      const { makeAuditHook } = await import("./on-demand.ts");
      record ??= makeAuditHook(recording);
      await record(event, context);
    });
  }
  for (const [name, make] of Object.entries(AGENT_TOOLS)) {
    api.registerTool((context) => make(parts, context), { name });
  }
  const ownWarnings = () =>
    unaskedWarnings({ plugin: config, config: hostConfig(), version: versionOf(api) });
  const warnings = () => [...hostWarnings(tellsOrigins(api)), ...ownWarnings()];
  for (const name of Object.keys(CHAT_COMMANDS) as readonly ChatCommand[]) {
    api.registerCommand(makeSlashCommand(name, { ...parts, warnings }));
  }
  const subjects = () => subjectsToWarm(config, hostConfig());
  const service = makeService({ access, log: api.logger, subjects });
  // Without its promise. Until a hot reload has started the services, OpenClaw blocks each tool call that a hook of the plugin sees.
  api.registerService({ ...service, start: (context) => void service.start(context) });
  api.registerGatewayMethod("helmdeck.status", statusMethod(access, config, hostConfig, warnings), {
    scope: "operator.read",
  });
  const hostFindings = () => findingsOf(api, config, hostConfig());
  if (config.pages) registerPagesTab(api, { access, config, hostConfig, hostFindings, receipts });
  // A command would load the host's whole runtime to ask whether the host tells origins: that takes longer than the command. Doctor asks.
  registerCli(api, { config, hostConfig, hostFindings, warnings: ownWarnings });
}

/** Doctor's findings about the host. */
async function findingsOf(
  api: HostApi,
  plugin: PluginConfig,
  config: HostConfig,
): Promise<readonly Finding[]> {
  const { answersInTime, findModel, hostFindings } = await import("./on-demand.ts");
  const host = { config, version: api.runtime.version, tellsOrigins: tellsOrigins(api) };
  const stateFolder = () => api.runtime.state.resolveStateDir(process.env);
  return hostFindings({
    ...host,
    ...{ plugin, answers: answersInTime, findModel: () => findModel(stateFolder()) },
  });
}

/** The folder of an agent's notes; undefined when the host does not tell, which must stop no forget. */
function notesFinder(api: HostApi, hostConfig: () => HostConfig): (agentId: string) => string | undefined {
  return (agentId) => {
    try {
      return workspaceOf(placeOf(api, hostConfig()), agentId);
    } catch {
      return undefined;
    }
  };
}

/** Where the host keeps its notes and conversations. */
function placeOf(api: HostApi, config: HostConfig): OpenClawPlace {
  const { env } = process;
  return openClawPlace(config, { stateDir: api.runtime.state.resolveStateDir(env), env, homeDir: homedir() });
}

interface CliRegistration {
  readonly config: PluginConfig;
  readonly hostConfig: () => HostConfig;
  readonly hostFindings: () => Promise<readonly Finding[]>;
  readonly warnings: () => readonly string[];
}

/** Empty if the runtime cannot be asked, as while only metadata is loaded. */
function versionOf(api: HostApi): string {
  try {
    return api.runtime.version;
  } catch {
    return "";
  }
}

function registerCli(api: HostApi, { config, hostConfig, hostFindings, warnings }: CliRegistration): void {
  api.registerCli(
    ({ program }) =>
      registerHelmdeckCli(program, {
        settings: async () => (await import("./memory-here.ts")).memorySettings(api, config, hostConfig()),
        remote: () => openRemote(config, hostConfig),
        defaultAgent: defaultAgent(hostConfig()),
        subjectOf: (agentId) => subjectOf(agentId, config),
        openClaw: () => placeOf(api, hostConfig()),
        hostFindings,
        hostWarnings: warnings,
      }),
    {
      descriptors: [
        {
          name: "helmdeck",
          description: CLI_DESCRIPTION,
          hasSubcommands: true,
          machineOutput: ({ argv }) => isForPrograms(argv),
        },
      ],
    },
  );
}

/** `openclaw gateway call helmdeck.status`, for operators: `{agentId?}` → memory's status for that agent. */
function statusMethod(
  access: MemoryAccess,
  config: PluginConfig,
  hostConfig: () => HostConfig,
  warnings: () => readonly string[],
): GatewayHandler {
  return async ({ params, respond }) => {
    const agentId = typeof params.agentId === "string" ? params.agentId : defaultAgent(hostConfig());
    const verdict = subjectOf(agentId, config);
    try {
      const asked = access.open().then((memory) => memory.status(verdict.ok ? verdict.subject : undefined));
      const status = await withinDeadline(ANSWER_DEADLINE_MS, asked);
      respond(true, { ...statusReply(status, warnings()), unasked: { ...processReceipts().counts } });
    } catch (error) {
      respond(true, { state: "failed", error: failureOf(error) });
    }
  };
}

function subjectsToWarm(config: PluginConfig, host: HostConfig): readonly string[] {
  const agents = [...(knownAgents(host) ?? [defaultAgent(host)])].slice(0, MOST_WARMED);
  const verdicts = agents.map((agentId) => subjectOf(agentId, config));
  return [...new Set(verdicts.flatMap((verdict) => (verdict.ok ? [verdict.subject] : [])))];
}
