/** The demo's own facts and questions. */

/** OpenClaw's own memory in the demo's workspace. */
export const NOTES: Readonly<Record<string, string>> = {
  "MEMORY.md": "# Notes\n\nThe staging cluster is rebuilt every Monday morning.\n",
  "memory/2026-10-05.md":
    "# Team meeting\n\nTalked about the Konflux deployment: the pipeline is slow on Mondays, look into caching.\n",
};

/** A fact that the agent stores through its tool. */
export const TOLD = {
  key: "deployment-preference",
  value:
    "I always deploy via Konflux: merge to main, let the pipeline build, promote from stage the next morning.",
} as const;

/** Earlier facts and tool records, as a file in the import format. */
export function historyLines(now: Date): string {
  const agoSeconds = (days: number): number => Math.floor(now.getTime() / 1_000) - days * 86_400;
  return [
    { key: "editor", value: "I write code in Helix with two spaces, never tabs.", tags: ["tools"] },
    {
      key: "people/reviewer",
      value: "Ask the platform team to review changes of the build pipeline.",
      tags: ["team"],
    },
    { key: "office/parking", value: "The parking garage closes at 22:00 on weekdays.", category: "places" },
    {
      audit: "pack",
      pack: "github.list_issues",
      version: "1.2.0",
      outcome: "ok",
      at_unix: agoSeconds(3),
      duration_ms: 840,
      learn_inputs: { title: "open issues of the Konflux pipeline" },
    },
    {
      audit: "pack",
      pack: "slides.narrate",
      version: "0.4.1",
      outcome: "ok",
      at_unix: agoSeconds(9),
      duration_ms: 52_300,
      learn_inputs: { voice: "warm", audience: "new colleagues", title: "How releases work" },
    },
    {
      audit: "pipeline",
      pipeline: "weekly-report",
      run_id: "run-0042",
      outcome: "succeeded",
      at_unix: agoSeconds(5),
      duration_ms: 128_000,
    },
  ]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join("");
}

/** The questions, each with the path prefix of its answer. */
export const QUESTIONS = [
  {
    // No word of the fact: only its meaning makes it a sure hit.
    query: "which indentation do I like when programming",
    mustFind: "helmdeck/user_facts/editor.md",
  },
  {
    query: "what was that thing about my Konflux deployment preference",
    mustFind: "helmdeck/user_facts/deployment-preference.md",
  },
  {
    query: "which voice did the slides about releases get narrated in",
    mustFind: "helmdeck/pack_history/pack_history/slides.narrate/",
  },
] as const;
