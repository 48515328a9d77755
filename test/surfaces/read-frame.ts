/** Reading a framed hit back, written apart from the product: what stands outside the quotation is its frame. */

export interface ReadHit {
  readonly kind: string;
  readonly key: string;
  /** The frame says that the key goes on. */
  readonly isKeyCut: boolean;
  readonly category: string;
  readonly stored: string;
  readonly updated: string | undefined;
  readonly writer: string | undefined;
  readonly text: string;
}

const FRAME =
  /^(fact|pack call|pipeline run) ("(?:[^"\\]|\\.)*")(…?) in ([a-z0-9][a-z0-9_.-]*), stored (\d{4}-\d\d-\d\d(?: \d\d:\d\d)?)(?:, updated (\d{4}-\d\d-\d\d(?: \d\d:\d\d)?))?(?: by (.+))?$/;

/** Throws where a line is neither the frame nor quoted, or where there is more than one frame. */
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

/** A snippet or a document that OpenClaw is given. */
export function readSnippet(snippet: string, lead = ""): ReadHit {
  const [first = "", ...quotation] = snippet.split("\n");
  if (!first.startsWith(lead) || !first.endsWith(":")) throw new Error(`no frame: ${first}`);
  return readHit(first.slice(lead.length, -1), quotation);
}

/** What `search` prints on a command line: each hit begins at the margin, and only a hit does. */
export function readPrinted(printed: string): readonly ReadHit[] {
  const hits = printed.trimEnd().split(/\n(?=\S)/);
  return hits.map((hit) => {
    const [first = "", ...quotation] = hit.split("\n").map((line) => line.trimEnd());
    const [, frame = ""] = /^\d\.\d\d {2}(.*?)(?: {2}\(only possibly related\))?$/.exec(first) ?? [];
    return readHit(
      frame,
      quotation.map((line) => line.replace(/^ {6}/, "")),
    );
  });
}

/** What /helmdeck search replies: each hit begins with its number; "…" says that there are more lines. */
export function readReply(reply: string): readonly ReadHit[] {
  const [first = "", ...rest] = reply.split(/(?:^|\n)\d+\. /);
  if (
    first !== "" &&
    !/^Nothing answers "[^\n]*" surely; what follows is only possibly related\.\n$/.test(first)
  )
    throw new Error(`not ours: ${first}`);
  return rest.map((hit) => {
    const [frame = "", ...quotation] = hit
      .replace(/\n {3}…\n*$/, "")
      .trimEnd()
      .split("\n");
    const possible = / {2}\(only possibly related\)$/;
    return readHit(
      frame.replace(possible, ""),
      quotation.map((line) => line.replace(/^ {3}/, "").trimEnd()),
    );
  });
}
