/** Turns on recall unasked and kept requests by the person's answer, and restores the former settings. */
import { FACTS, patchAt, patchBetween } from "../config-section.ts";
import type { SpeakUp } from "../installation-facts.ts";
import { at, isEqual, isObject, type Json, type JsonObject, objectOf } from "../openclaw-json.ts";
import { isConfigAsLeft, patchConfig } from "./config-changes.ts";
import { EXIT, requireOpenClaw, type StepContext, type StepDefinition } from "./step-definition.ts";

interface SetSpeakUp {
  readonly kind: "speak-up";
  readonly configPath: string;
  readonly answer: SpeakUp;
}
interface RestoreSpeakUp {
  readonly kind: "restore-speak-up";
  readonly configPath: string;
}

const ON: JsonObject = { autoRecall: "sure", captureRequests: "store" };

export const setSpeakUp: StepDefinition<SetSpeakUp, RestoreSpeakUp> = {
  kind: "speak-up",
  title: ({ answer }) =>
    answer === "on"
      ? "recall without being asked, and keep requests to remember (autoRecall: sure, captureRequests: store)"
      : "recall only when the agent asks",
  exitCode: EXIT.openclaw,
  record: async ({ configPath, answer }, context) => {
    const settings = await settingsIn(configPath, context);
    const earlier = context.environment.journal.entries.speakUp;
    const before = earlier?.before ?? ours(settings);
    const hadSettings = earlier?.hadSettings ?? settings !== undefined;
    const isSet = earlier?.isSet === true || answer === "on";
    return {
      target: requireOpenClaw(context).target,
      speakUp: { before, hadSettings, answer, isSet, isDue: true },
    };
  },
  run: async ({ configPath, answer }, context) => {
    if (answer === "on") await patchConfig(configPath, context, patchAt(FACTS.path, ON));
    const { journal } = context.environment;
    const { speakUp } = journal.entries;
    if (speakUp !== undefined) await journal.record({ speakUp: { ...speakUp, isDue: false } });
  },
  undo: {
    kind: "restore-speak-up",
    title: ({ configPath }) => `restore autoRecall and captureRequests in ${configPath}`,
    exitCode: EXIT.openclaw,
    plan: ({ journal, openclaw }) =>
      openclaw !== undefined && journal.speakUp?.isSet === true && !isConfigAsLeft(journal)
        ? { kind: "restore-speak-up", configPath: openclaw.configPath }
        : undefined,
    run: async ({ configPath }, context) => {
      const change = context.environment.journal.entries.speakUp;
      const settings = await settingsIn(configPath, context);
      if (change === undefined || settings === undefined) return;
      if (!isEqual(ours(settings), ON))
        return context.warn("autoRecall or captureRequests was changed since the installation; both stay.");
      const former = objectOf([...others(settings), ...Object.entries(change.before)]);
      const isGone = Object.keys(former).length === 0 && !change.hadSettings;
      const patch = patchBetween(settings, isGone ? undefined : former);
      await patchConfig(configPath, context, patchAt(FACTS.path, patch));
    },
    forgets: ["speakUp"],
  },
};

/** The settings of this step, as far as they are set. */
function ours(settings: Json | undefined): JsonObject {
  return objectOf(entriesOf(settings).filter(([key]) => key in ON));
}

function others(settings: Json): readonly (readonly [string, Json])[] {
  return entriesOf(settings).filter(([key]) => !(key in ON));
}

function entriesOf(settings: Json | undefined): readonly (readonly [string, Json])[] {
  return Object.entries(isObject(settings) ? settings : {});
}

async function settingsIn(configPath: string, context: StepContext): Promise<Json | undefined> {
  return at(await requireOpenClaw(context).authoredConfig(configPath), ...FACTS.path);
}
