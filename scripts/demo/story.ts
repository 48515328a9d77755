/** The demo's own facts and questions. */

/** OpenClaw's own memory in the demo's workspace. */
export const NOTES: Readonly<Record<string, string>> = {
  "MEMORY.md": "# Notes\n\nThe staging cluster is rebuilt every Monday morning.\n",
  "memory/2026-10-05.md":
    "# Team meeting\n\nTalked about how we release software: the pipeline is slow on Mondays, look into caching.\n",
};

/** A fact that the agent stores through its tool. */
export const TOLD = {
  key: "deployment-preference",
  value:
    "I always deploy via Konflux: merge to main, let the pipeline build, promote from stage the next morning.",
} as const;

/** Facts of earlier weeks, as a file in the import format. The last two contradict each other. */
export const EARLIER = [
  { key: "editor", value: "I write code in Helix with two spaces, never tabs.", tags: ["tools"] },
  {
    key: "people/reviewer",
    value: "Ask the platform team to review changes of the build pipeline.",
    tags: ["team"],
  },
  { key: "office/parking", value: "The parking garage closes at 22:00 on weekdays.", category: "places" },
  { key: "garage/hours", value: "The parking garage closes at 20:00 on weekdays.", category: "places" },
]
  .map((line) => `${JSON.stringify(line)}\n`)
  .join("");

/** The questions, each with the path prefix of its answer. */
export const QUESTIONS = [
  {
    // No word of the fact: only its meaning makes it a sure hit.
    query: "which indentation do I like when programming",
    mustFind: "helmdeck/user_facts/editor.md",
  },
  {
    query: "how do I release software",
    mustFind: "helmdeck/user_facts/deployment-preference.md",
  },
  {
    // Both hits say that the other contradicts them.
    query: "how late can I park on weekdays",
    mustFind: "helmdeck/places/",
  },
] as const;
