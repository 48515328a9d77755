/**
 * Reads a database's identity from the first bytes of its first page, without SQLite.
 *
 * SQLite cannot open a file in WAL mode without leaving something behind, if only an empty log. So the page is read as the file
 * format specifies (sqlite.org/fileformat2.html): from the database or, while that is blank, from its log.
 */

import { readingBytes } from "./read-bytes.ts";
import { framesOf, walHeaderOf } from "./wal-frames.ts";

/** `blank`: a database without any content. */
export interface FirstPage {
  readonly applicationId: number;
  readonly isBlank: boolean;
}

const MAGIC = Buffer.from("SQLite format 3\0", "latin1");
const USER_VERSION_AT = 60;
const APPLICATION_ID_AT = 68;
/** The header, and the beginning of the schema table. */
const READ_BYTES = 112;
const SCHEMA_AT = 100;
const LEAF_OF_TABLE = 0x0d;
const CELLS_AT = SCHEMA_AT + 3;

/** Undefined when it is not a SQLite database. Only for a file that this process does not hold: closing it drops its locks. */
export function firstPageOf(path: string): FirstPage | undefined {
  return readingBytes(path, (read) => parse(read(0, READ_BYTES)));
}

/** The page as of the last commit in the log; undefined when no commit holds it. SQLite never locks a log. */
export function firstPageInWal(path: string): FirstPage | undefined {
  return readingBytes(path, (read) => {
    const header = walHeaderOf(read);
    if (header === undefined) return undefined;
    let written: FirstPage | undefined;
    let committed: FirstPage | undefined;
    for (const { page, committedPages, salts, content } of framesOf(read, header)) {
      if (!salts.equals(header.salts)) break;
      if (page === 1) written = parse(content.subarray(0, READ_BYTES));
      if (committedPages !== 0) committed = written;
    }
    return committed;
  });
}

function parse(bytes: Buffer): FirstPage | undefined {
  if (bytes.length < SCHEMA_AT || !bytes.subarray(0, MAGIC.length).equals(MAGIC)) return undefined;
  const applicationId = bytes.readUInt32BE(APPLICATION_ID_AT);
  const isUnmarked = applicationId === 0 && bytes.readUInt32BE(USER_VERSION_AT) === 0;
  return { applicationId, isBlank: isUnmarked && hasNoTables(bytes) };
}

function hasNoTables(bytes: Buffer): boolean {
  return (
    bytes.length === READ_BYTES && bytes[SCHEMA_AT] === LEAF_OF_TABLE && bytes.readUInt16BE(CELLS_AT) === 0
  );
}
