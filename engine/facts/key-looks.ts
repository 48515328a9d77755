/**
 * Keys that look alike: told by their skeletons, as UTS #39 makes them.
 *
 * Who attacks: whoever gets a fact stored beside another under a key that a person cannot tell from it, "dеploy" with a
 * Cyrillic е, to be taken for it in a list, or forgotten in its place. A new key that looks like one that is there is
 * refused. Keys of any script are fine where nothing looks like them, and so are two that differ in nothing but ASCII, such
 * as "item1" and "iteml": a keyboard tells those apart, and refusing them would refuse honest keys.
 */
import { invalidField } from "../errors.ts";
import { CONFUSABLES } from "./confusables-data.ts";
import { harmlessLine } from "./hostile-text.ts";

/** The keys of one memory, by their looks. */
export class KeyLooks {
  readonly #keys = new Map<string, Set<string>>();

  add(key: string): void {
    const look = skeletonOf(key);
    const alike = this.#keys.get(look);
    if (alike === undefined) this.#keys.set(look, new Set([key]));
    else alike.add(key);
  }

  /** Another key that looks like this one, which is new; undefined for one that is there. */
  lookalikeOf(key: string): string | undefined {
    const alike = this.#keys.get(skeletonOf(key));
    if (alike === undefined || alike.has(key)) return undefined;
    return [...alike].find((known) => beyondAscii(known) !== beyondAscii(key));
  }

  /** Throws `invalid_input`, naming the other. */
  refuseLookalike(key: string): void {
    const other = this.lookalikeOf(key);
    if (other === undefined) return;
    throw invalidField(
      "key",
      `looks like the key "${harmlessLine(other)}", which is there and spelt with other letters; use that one, or a name that nobody takes for it`,
    );
  }
}

/** What two texts have in common when they look alike. Not for showing. */
function skeletonOf(text: string): string {
  const visible = text.normalize("NFD").replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "");
  return Array.from(visible, (character) => prototypes().get(character) ?? character)
    .join("")
    .normalize("NFD");
}

function beyondAscii(key: string): string {
  return key.replaceAll(/\p{ASCII}/gu, "");
}

let made: ReadonlyMap<string, string> | undefined;

function prototypes(): ReadonlyMap<string, string> {
  made ??= new Map(
    CONFUSABLES.trim()
      .split("\n")
      .flatMap((line) => {
        const [look = "", characters = ""] = line.split(":");
        return characters.split(" ").map((character) => [textOf(character), textOf(look)] as const);
      }),
  );
  return made;
}

function textOf(codePoints: string): string {
  return String.fromCodePoint(...codePoints.split(" ").map((hex) => Number.parseInt(hex, 16)));
}
