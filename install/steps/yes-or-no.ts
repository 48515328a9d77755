/** Settings that a person says yes or no to: recall unasked with kept requests, and a year for new facts. Restores the former ones. */
import { FACTS, patchAt, patchBetween } from "../config-section.ts";
import type { YesNo } from "../installation-facts.ts";
import { at, isEqual, isObject, type Json, type JsonObject, objectOf } from "../openclaw-json.ts";
import { isConfigAsLeft, patchConfig } from "./config-changes.ts";
import { EXIT, requireOpenClaw, type StepContext, type StepDefinition } from "./step-definition.ts";

interface SetAnswer<Kind extends string> {
  readonly kind: Kind;
  readonly configPath: string;
  readonly answer: YesNo;
}

interface Answered<Kind extends string> {
  readonly kind: Kind;
  /** In the journal. */
  readonly name: "speakUp" | "keepAYear";
  /** The settings of a yes. */
  readonly on: JsonObject;
  readonly titles: Readonly<Record<YesNo, string>>;
}

export const setSpeakUp = settingsOfAnswer({
  kind: "speak-up",
  name: "speakUp",
  on: { autoRecall: "sure", captureRequests: "store" },
  titles: {
    on: "recall without being asked, and keep requests to remember (autoRecall: sure, captureRequests: store)",
    off: "recall only when the agent asks",
  },
});

export const setKeepAYear = settingsOfAnswer({
  kind: "keep-a-year",
  name: "keepAYear",
  on: { lifetimeDays: 365 },
  titles: {
    on: "keep new facts for a year unless another end is named (lifetimeDays: 365)",
    off: "keep new facts for 90 days unless another end is named",
  },
});

function settingsOfAnswer<Kind extends string>({
  kind,
  name,
  on,
  titles,
}: Answered<Kind>): StepDefinition<
  SetAnswer<Kind>,
  { readonly kind: `restore-${Kind}`; readonly configPath: string }
> {
  const isOwn = ([key]: readonly [string, Json]): boolean => key in on;
  const own = (settings: Json | undefined): JsonObject => objectOf(entriesOf(settings).filter(isOwn));
  const names = Object.keys(on).join(" and ");
  return {
    kind,
    title: ({ answer }) => titles[answer],
    exitCode: EXIT.openclaw,
    record: async ({ configPath, answer }, context) => {
      const settings = await settingsIn(configPath, context);
      const earlier = context.environment.journal.entries[name];
      const before = earlier?.before ?? own(settings);
      const hadSettings = earlier?.hadSettings ?? settings !== undefined;
      const isSet = earlier?.isSet === true || answer === "on";
      return {
        target: requireOpenClaw(context).target,
        [name]: { before, hadSettings, answer, isSet, isDue: true },
      };
    },
    run: async ({ configPath, answer }, context) => {
      if (answer === "on") await patchConfig(configPath, context, patchAt(FACTS.path, on));
      const { journal } = context.environment;
      const recorded = journal.entries[name];
      if (recorded !== undefined) await journal.record({ [name]: { ...recorded, isDue: false } });
    },
    undo: {
      kind: `restore-${kind}`,
      title: ({ configPath }) => `restore ${names} in ${configPath}`,
      exitCode: EXIT.openclaw,
      plan: ({ journal, openclaw }) =>
        openclaw !== undefined && journal[name]?.isSet === true && !isConfigAsLeft(journal)
          ? { kind: `restore-${kind}`, configPath: openclaw.configPath }
          : undefined,
      run: async ({ configPath }, context) => {
        const change = context.environment.journal.entries[name];
        const settings = await settingsIn(configPath, context);
        if (change === undefined || settings === undefined) return;
        if (!isEqual(own(settings), on))
          return context.warn(`${names} changed since the installation, and stays as it is now.`);
        const others = entriesOf(settings).filter((entry) => !isOwn(entry));
        const former = objectOf([...others, ...Object.entries(change.before)]);
        const isGone = Object.keys(former).length === 0 && !change.hadSettings;
        const patch = patchBetween(settings, isGone ? undefined : former);
        await patchConfig(configPath, context, patchAt(FACTS.path, patch));
      },
      forgets: [name],
    },
  };
}

function entriesOf(settings: Json | undefined): readonly (readonly [string, Json])[] {
  return Object.entries(isObject(settings) ? settings : {});
}

async function settingsIn(configPath: string, context: StepContext): Promise<Json | undefined> {
  return at(await requireOpenClaw(context).authoredConfig(configPath), ...FACTS.path);
}
