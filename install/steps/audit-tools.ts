/** Sets the plugin's `auditTools` to the person's answer, and restores the former setting. */
import { defined } from "../../engine/defined.ts";
import { FACTS, patchAt, patchBetween } from "../config-section.ts";
import type { AuditTools } from "../installation-facts.ts";
import { at, isObject, type Json, objectOf } from "../openclaw-json.ts";
import { isConfigAsLeft, patchConfig } from "./config-changes.ts";
import { EXIT, requireOpenClaw, type StepContext, type StepDefinition } from "./step-definition.ts";

interface SetAuditTools {
  readonly kind: "audit-tools";
  readonly configPath: string;
  readonly answer: AuditTools;
}
interface RestoreAuditTools {
  readonly kind: "restore-audit-tools";
  readonly configPath: string;
}
type Maybe = Json | undefined;

const KEY = "auditTools";

export const setAuditTools: StepDefinition<SetAuditTools, RestoreAuditTools> = {
  kind: "audit-tools",
  title: ({ answer }) =>
    answer === "all"
      ? "record the calls of all tools (auditTools: all)"
      : "record only the calls of helmdeck's own tools",
  exitCode: EXIT.openclaw,
  record: async ({ configPath, answer }, context) => {
    const settings = await settingsIn(configPath, context);
    const earlier = context.environment.journal.entries.auditTools;
    const { before, hadSettings } = earlier ?? {
      before: at(settings, KEY),
      hadSettings: settings !== undefined,
    };
    const isSet = earlier?.isSet === true || auditedTools(settings) !== answer;
    const auditTools = { ...defined({ before }), hadSettings, answer, isSet, isDue: true };
    return { target: requireOpenClaw(context).target, auditTools };
  },
  run: async ({ configPath, answer }, context) => {
    const isSet = auditedTools(await settingsIn(configPath, context)) === answer;
    await patchConfig(configPath, context, isSet ? {} : patchAt([...FACTS.path, KEY], answer));
    const { journal } = context.environment;
    const { auditTools } = journal.entries;
    if (auditTools !== undefined) await journal.record({ auditTools: { ...auditTools, isDue: false } });
  },
  undo: {
    kind: "restore-audit-tools",
    title: ({ configPath }) => `restore auditTools in ${configPath}`,
    exitCode: EXIT.openclaw,
    plan: ({ journal, openclaw }) =>
      openclaw !== undefined && journal.auditTools?.isSet === true && !isConfigAsLeft(journal)
        ? { kind: "restore-audit-tools", configPath: openclaw.configPath }
        : undefined,
    run: async ({ configPath }, context) => {
      const change = context.environment.journal.entries.auditTools;
      const settings = await settingsIn(configPath, context);
      if (change === undefined || settings === undefined) return;
      if (at(settings, KEY) !== change.answer)
        return context.warn("auditTools was changed since the installation and stays.");
      const former = restored(settings, change.before, change.hadSettings);
      await patchConfig(configPath, context, patchAt(FACTS.path, patchBetween(settings, former)));
    },
    forgets: ["auditTools"],
  },
};

/** Read like the plugin does. */
function auditedTools(settings: Maybe): AuditTools {
  return at(settings, KEY) === "all" ? "all" : "helmdeck";
}

async function settingsIn(configPath: string, context: StepContext): Promise<Maybe> {
  return at(await requireOpenClaw(context).authoredConfig(configPath), ...FACTS.path);
}

function restored(settings: Json, before: Maybe, hadSettings: boolean): Maybe {
  const others = Object.entries(isObject(settings) ? settings : {}).filter(([key]) => key !== KEY);
  if (before !== undefined) return objectOf([...others, [KEY, before]]);
  return others.length === 0 && !hadSettings ? undefined : objectOf(others);
}
