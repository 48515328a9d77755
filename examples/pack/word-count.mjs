/** A pack: schemas for its input and output, and `run` for the work. The type gives editors completion. */

/** @type {import("helmdeck-memory/packs").PackMaker} */
export default ({ definePack, z, failure }) =>
  definePack({
    name: "text.word_count",
    title: "Count words",
    version: "1.0.0",
    description: "Counts the words of a text.",
    input: z.strictObject({ text: z.string().max(100_000) }),
    output: z.object({ words: z.number() }),
    effects: { readOnly: true, openWorld: false },
    async run(_context, { text }) {
      const words = text.split(/\s+/).filter((word) => word !== "").length;
      if (words === 0) throw failure("The text has no words.");
      return { words };
    },
  });
