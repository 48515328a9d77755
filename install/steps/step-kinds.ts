/** Every step that a plan can have, as plain data: what --dry-run prints is what a run executes. */
import type { ComposeFlavour, FactsService, Target } from "../installation-facts.ts";

export type Step =
  | { readonly kind: "create-network"; readonly network: string }
  | {
      readonly kind: "start-sidecar";
      readonly compose: ComposeFlavour;
      readonly files: readonly string[];
      readonly environment: Readonly<Record<string, string>>;
      readonly downloadsImage: boolean;
    }
  | { readonly kind: "pull-model"; readonly model: string; readonly service: ServicePlace }
  | { readonly kind: "check-embedding"; readonly model: string; readonly service: ServicePlace }
  | { readonly kind: "make-key"; readonly databasePath: string; readonly keyPath: string }
  | { readonly kind: "back-up-config"; readonly configPath: string }
  | {
      readonly kind: "install-plugin";
      readonly plugin: string;
      readonly version: string;
      readonly configPath: string;
      readonly capabilities: readonly string[];
    }
  | {
      readonly kind: "attach-container";
      readonly container: string;
      readonly network: string;
      /** Written so that compose attaches it again when it makes the container anew. */
      readonly override:
        | { readonly file: string; readonly service: string; readonly networks: readonly string[] }
        | undefined;
    }
  /** From inside the container: what it can reach is what counts. */
  | {
      readonly kind: "check-from-container";
      readonly container: string;
      readonly url: string;
      readonly model: string;
    }
  | {
      readonly kind: "point-search";
      readonly configPath: string;
      readonly provider: "ollama";
      readonly model: string;
      readonly baseUrl: string;
      /** The provider of the operator's own that goes. */
      readonly replaces: string | undefined;
      /** Added to `plugins.allow`, without which the gateway does not load the provider. */
      readonly allow: readonly string[];
    }
  | { readonly kind: "restore-search"; readonly configPath: string }
  | ({
      readonly kind: "point-facts";
      readonly configPath: string;
      /** What the operator had set, and goes. */
      readonly replaces: string | undefined;
    } & FactsService)
  | { readonly kind: "restore-facts"; readonly configPath: string }
  | {
      readonly kind: "index-notes";
      readonly configPath: string;
      /** Once the former provider is back, it may itself be down: that is then only said. */
      readonly mustWork: boolean;
      /** The gateway that runs must have let go of our service first. */
      readonly awaitsGateway: boolean;
    }
  | {
      readonly kind: "prove";
      /** Who embeds OpenClaw's own notes. */
      readonly embeddings: { readonly provider: string } | undefined;
      /** Who embeds helmdeck's facts. */
      readonly facts: FactsService | undefined;
      readonly gateway: "running" | "for-the-proof";
      /** On the machine itself: where the marker can be forgotten when the gateway is gone. */
      readonly memory: { readonly databasePath: string; readonly keyPath: string } | undefined;
    }
  | {
      readonly kind: "uninstall-plugin";
      readonly plugin: string;
      readonly configPath: string;
      /** False after a run that was killed: then only what it left in the configuration goes. */
      readonly isThere: boolean;
    }
  | { readonly kind: "restore-config-copy"; readonly configPath: string }
  | { readonly kind: "detach-container"; readonly container: string; readonly network: string }
  | {
      readonly kind: "stop-sidecar";
      readonly compose: ComposeFlavour;
      readonly files: readonly string[];
      readonly deletesModels: boolean;
    }
  | { readonly kind: "remove-network"; readonly network: string }
  | { readonly kind: "delete-memory"; readonly databasePath: string; readonly keyPath: string }
  | { readonly kind: "delete-memory-in-container"; readonly container: string }
  | { readonly kind: "forget-journal" };

export type StepKind = Step["kind"];

/** How this process reaches the embedding service: at an address, or at the sidecar's own, known only when it runs. */
export type ServicePlace = { readonly url: string } | { readonly container: string };

/** What stands between the planner and a plan, each with what to do about it. */
export interface Missing {
  readonly what: "docker" | "openclaw" | "gateway" | "disk" | "memory" | "embeddings" | "turn";
  readonly message: string;
  readonly remedy: string;
}

export interface Plan {
  readonly target: Target | undefined;
  readonly steps: readonly Step[];
  /** What a person should know before and after. */
  readonly warnings: readonly string[];
  readonly missing: readonly Missing[];
  /** What the operator set stands in the way: it goes only when the operator says so. */
  readonly questions: readonly Question[];
}

export interface Question {
  readonly about: "search" | "facts";
  readonly text: string;
}

export interface StepOutcome {
  readonly step: Step;
  readonly outcome: "done" | "failed";
  readonly ms: number;
  readonly remark?: string;
  readonly error?: string;
}

export const EXIT = {
  done: 0,
  user: 1,
  prerequisite: 2,
  sidecar: 3,
  openclaw: 4,
  proof: 5,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The exit code of a run in which this step failed. */
export function exitCodeOf({ kind }: Pick<Step, "kind">): ExitCode {
  switch (kind) {
    case "create-network":
    case "start-sidecar":
    case "pull-model":
    case "check-embedding":
    case "stop-sidecar":
    case "remove-network":
      return EXIT.sidecar;
    case "prove":
      return EXIT.proof;
    case "make-key":
    case "back-up-config":
    case "install-plugin":
    case "attach-container":
    case "check-from-container":
    case "point-search":
    case "restore-search":
    case "point-facts":
    case "restore-facts":
    case "index-notes":
    case "uninstall-plugin":
    case "restore-config-copy":
    case "detach-container":
    case "delete-memory":
    case "delete-memory-in-container":
    case "forget-journal":
      return EXIT.openclaw;
  }
}

/** What a person should know about a step before saying yes. */
export function detailOf(step: Step): string | undefined {
  switch (step.kind) {
    case "start-sidecar":
      return step.downloadsImage ? "downloads its image, several GB" : undefined;
    case "make-key":
      return `${step.keyPath}; back it up, nothing can be read without it`;
    case "install-plugin":
      return `it brings: ${step.capabilities.join(", ")}`;
    case "attach-container":
      return step.override === undefined
        ? undefined
        : `writes ${step.override.file} so that it stays attached`;
    default:
      return undefined;
  }
}

/** The step in a person's words. */
export function titleOf(step: Step): string {
  switch (step.kind) {
    case "create-network":
      return `create the Docker network ${step.network}`;
    case "start-sidecar":
      return "start the embedding sidecar";
    case "pull-model":
      return `download the model ${step.model}`;
    case "check-embedding":
      return `see that ${step.model} embeds`;
    case "make-key":
      return "make the memory's key";
    case "back-up-config":
      return `keep a copy of ${step.configPath}`;
    case "install-plugin":
      return `install the plugin ${step.plugin} ${step.version} into OpenClaw`;
    case "attach-container":
      return `attach the container ${step.container} to ${step.network}`;
    case "check-from-container":
      return `see that ${step.container} reaches ${step.url}`;
    case "point-search":
      return pointTitle(step);
    case "restore-search":
      return `give OpenClaw's memory.search its former provider back in ${step.configPath}`;
    case "point-facts":
      return `let ${step.model} on ${step.url} embed helmdeck's facts${insteadOf(step.replaces)}`;
    case "restore-facts":
      return `give helmdeck's facts their former setting back in ${step.configPath}`;
    case "index-notes":
      return "let OpenClaw index its notes anew";
    case "prove":
      return proofTitle(step);
    case "uninstall-plugin":
      return `${step.isThere ? "uninstall" : "clear away what is left of"} the plugin ${step.plugin}`;
    case "restore-config-copy":
      return `put ${step.configPath} back byte for byte: nobody changed it since`;
    case "detach-container":
      return `detach the container ${step.container} from ${step.network}`;
    case "stop-sidecar":
      return `stop the embedding sidecar; its downloaded models ${step.deletesModels ? "are deleted" : "stay"}`;
    case "remove-network":
      return `remove the Docker network ${step.network} if nothing is on it`;
    case "delete-memory":
      return `delete what is remembered (${step.databasePath}) and its key (${step.keyPath})`;
    case "delete-memory-in-container":
      return `delete what is remembered in ${step.container}, and its key`;
    case "forget-journal":
      return "forget what was changed: it is taken back";
  }
}

function pointTitle({ model, baseUrl, replaces, allow }: Extract<Step, { kind: "point-search" }>): string {
  const allowed = allow.length === 0 ? "" : `, and allow the plugin ${allow.join(", ")}`;
  return `point OpenClaw's memory.search at ${model} on ${baseUrl}${insteadOf(replaces)}${allowed}`;
}

function insteadOf(former: string | undefined): string {
  return former === undefined ? "" : `, instead of ${former}`;
}

function proofTitle({ embeddings, facts, gateway }: Extract<Step, { kind: "prove" }>): string {
  const meant = facts === undefined ? "" : ", by other words too";
  const by = embeddings === undefined ? meant : `${meant}, and that OpenClaw embeds`;
  const where = gateway === "running" ? "" : ", through a gateway started on loopback for this";
  return `prove that a stored fact is found${by}${where}`;
}
