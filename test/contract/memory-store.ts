/** The contract suite: every promise of `MemoryStore`, run against any store that brings a rig. */
import { describe } from "vitest";
import type { StoreCapabilities } from "../../engine/store/memory-store.ts";
import { describeClock } from "./clock.ts";
import { describeBounds, describeConditions } from "./conditions.ts";
import { describeDeleting } from "./deleting.ts";
import { describeDeletingMuch } from "./deleting-much.ts";
import { describeFeed } from "./feed.ts";
import { describeHistory } from "./history.ts";
import { describeHistoryModel } from "./history-model.ts";
import { describeDamage, describeLifecycle } from "./lifecycle.ts";
import { describeLimits } from "./limits.ts";
import { describeListing } from "./listing.ts";
import { describeModel } from "./model.ts";
import { describeRenewing } from "./renewing.ts";
import type { OpenRig } from "./rig.ts";
import { describeReferenceVectors, describeVectors } from "./vectors.ts";
import { describeWriting } from "./writing.ts";

export interface StoreUnderTest {
  readonly name: string;
  readonly open: OpenRig;
  readonly capabilities: StoreCapabilities;
  /** Whether the rig can damage rows: true for stores outside of the process. */
  readonly canDamage: boolean;
  /** Whether a server stores the entries: its deletes take effect when the transaction ends, and it clears the bytes later. */
  readonly isOnServer?: boolean;
  /** The number of random sequences in the property test; lower for stores that are slow to open. */
  readonly modelRuns: number;
}

export function describeMemoryStore(subject: StoreUnderTest): void {
  const { isOnServer = false } = subject;
  const erased = isOnServer ? "pending" : "complete";
  describe(`${subject.name} fulfils the memory store's contract`, () => {
    describeWriting(subject.open);
    describeListing(subject.open);
    describeLimits(subject.open);
    describeDeleting(subject.open);
    describeDeletingMuch(subject.open, { isOnServer });
    describeHistory(subject.open, erased);
    describeRenewing(subject.open);
    describeConditions(subject.open);
    describeBounds(subject.open);
    describeFeed(subject.open);
    describeClock(subject.open, { isPersistent: subject.capabilities.persistent });
    describeVectors(subject.open);
    describeReferenceVectors(subject.open);
    describeLifecycle(subject.open, subject.capabilities);
    describeHistoryModel(subject.open, Math.ceil(subject.modelRuns / 3));
    if (subject.canDamage) describeDamage(subject.open, erased);
    describeModel(subject.open, subject.modelRuns, { isPersistent: subject.capabilities.persistent });
  });
}
