/** The host's types, derived from its public entry point so that they follow the installed version. */
import type { OpenClawPluginApi } from "openclaw/plugin-sdk/plugin-entry";

export type HostApi = OpenClawPluginApi;
export type HostConfig = OpenClawPluginApi["config"];
export type Logger = OpenClawPluginApi["logger"];

export type Supplement = Parameters<OpenClawPluginApi["registerMemoryCorpusSupplement"]>[0];
export type SearchParams = Parameters<Supplement["search"]>[0];
export type SearchHit = Awaited<ReturnType<Supplement["search"]>>[number];
export type GetParams = Parameters<Supplement["get"]>[0];
export type GetResult = NonNullable<Awaited<ReturnType<Supplement["get"]>>>;

export type PromptParams = Parameters<Parameters<OpenClawPluginApi["registerMemoryPromptPreparation"]>[0]>[0];
export type Service = Parameters<OpenClawPluginApi["registerService"]>[0];
export type ServiceContext = Parameters<Service["start"]>[0];
export type SlashCommand = Parameters<OpenClawPluginApi["registerCommand"]>[0];
export type SlashContext = Parameters<SlashCommand["handler"]>[0];
export type CliContext = Parameters<Parameters<OpenClawPluginApi["registerCli"]>[0]>[0];
export type HttpHandler = Parameters<OpenClawPluginApi["registerHttpRoute"]>[0]["handler"];
export type GatewayHandler = Parameters<OpenClawPluginApi["registerGatewayMethod"]>[1];

type ToolFactory = Extract<
  Parameters<OpenClawPluginApi["registerTool"]>[0],
  (...context: never[]) => unknown
>;
export type ToolContext = Pick<Parameters<ToolFactory>[0], "agentId" | "sessionKey" | "sandboxed">;
export type Tool = Extract<Parameters<OpenClawPluginApi["registerTool"]>[0], { execute: unknown }>;
export type ToolResult = Awaited<ReturnType<Tool["execute"]>>;
