/** Reads a listing page by page. */
import { defined } from "./defined.ts";
import { nextTurn } from "./timing.ts";

/** `read` gets the next page's cursor. Other work runs between two pages. `from`: the first page's cursor, if there is one. */
export async function* pagesOf<Page extends { readonly nextCursor?: string }>(
  read: (more: { readonly cursor?: string }) => Promise<Page>,
  from?: string,
): AsyncGenerator<Page, void> {
  let cursor = from;
  do {
    const page = await read(defined({ cursor }));
    yield page;
    cursor = page.nextCursor;
    await nextTurn();
  } while (cursor !== undefined);
}
