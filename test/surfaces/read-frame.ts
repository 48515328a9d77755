/** Parses a framed hit, independently of the product's code: the text outside of the quotation is its header. */

export interface ReadHit {
  readonly kind: string;
  readonly key: string;
  /** Whether the frame marks the key as shortened. */
  readonly isKeyCut: boolean;
  readonly category: string;
  readonly stored: string;
  readonly updated: string | undefined;
  readonly writer: string | undefined;
  readonly text: string;
}

const FRAME =
  /^(fact|pack call|pipeline run) ("(?:[^"\\]|\\.)*")(…?) in ([a-z0-9][a-z0-9_.-]*), stored (\d{4}-\d\d-\d\d(?: \d\d:\d\d)?)(?:, updated (\d{4}-\d\d-\d\d(?: \d\d:\d\d)?))?(?: by (.+))?$/;

/** Throws if a line is neither part of the frame nor quoted, or if there is more than one frame. */
function readHit(frame: string, quotation: readonly string[]): ReadHit {
  const [, kind = "", key = "", cut, category = "", stored = "", updated, writer] = FRAME.exec(frame) ?? [];
  if (kind === "") throw new Error(`no frame: ${frame}`);
  const text = quotation.map((line) => {
    if (line !== ">" && !line.startsWith("> ")) throw new Error(`not quoted: ${line}`);
    return line.slice(2);
  });
  return {
    ...{ kind, key: JSON.parse(key), isKeyCut: cut === "…" },
    ...{ category, stored, updated, writer, text: text.join("\n") },
  };
}

/** Parses a snippet or document that OpenClaw receives. */
export function readSnippet(snippet: string, lead = ""): ReadHit {
  const [first = "", ...quotation] = snippet.split("\n");
  if (!first.startsWith(lead) || !first.endsWith(":")) throw new Error(`no frame: ${first}`);
  return readHit(first.slice(lead.length, -1), quotation);
}

/** Parses the output of `search` on a command line. A line without indentation starts a hit. */
export function readPrinted(printed: string): readonly ReadHit[] {
  const hits = printed.trimEnd().split(/\n(?=\S)/);
  return hits.map((hit) => {
    const [first = "", ...quotation] = hit.split("\n").map((line) => line.trimEnd());
    const [, frame = ""] =
      /^\d\.\d\d {2}(.*?)(?: {2}\(only possibly related(?:: \w+)?\))?$/.exec(first) ?? [];
    return readHit(
      frame,
      quotation.map((line) => line.replace(/^ {6}/, "")),
    );
  });
}

/** Parses the reply to /helmdeck search: each hit starts with its number; "…" stands for omitted lines. */
export function readReply(reply: string): readonly ReadHit[] {
  const [first = "", ...rest] = reply.split(/(?:^|\n)\d+\. /);
  if (
    first !== "" &&
    !/^Nothing answers "[^\n]*" with certainty; these hits are only possibly related\.\n$/.test(first)
  )
    throw new Error(`not ours: ${first}`);
  return rest.map((hit) => {
    const [frame = "", ...quotation] = hit
      .replace(/\n {3}…\n*$/, "")
      .trimEnd()
      .split("\n");
    const possible = / {2}\(only possibly related(?:: \w+)?\)$/;
    return readHit(
      frame.replace(possible, ""),
      quotation.map((line) => line.replace(/^ {3}/, "").trimEnd()),
    );
  });
}
