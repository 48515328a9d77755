/** The contract suite: every promise of `MemoryStore`, run against any store that brings a rig. */
import { describe } from "vitest";
import type { StoreCapabilities } from "../../engine/index.ts";
import { describeClock } from "./clock.ts";
import { describeDeleting } from "./deleting.ts";
import { describeDeletingMuch } from "./deleting-much.ts";
import { describeFeed } from "./feed.ts";
import { describeHistory } from "./history.ts";
import { describeHistoryModel } from "./history-model.ts";
import { describeDamage, describeLifecycle } from "./lifecycle.ts";
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
  /** The rig can damage rows: true for a store that keeps them outside the process. */
  readonly canDamage: boolean;
  /** A server keeps it: what is deleted is gone when its transaction ends, and its bytes when the server clears them away. */
  readonly isOnServer?: boolean;
  /** How many random sequences the property test takes; fewer for a store that is slow to open. */
  readonly modelRuns: number;
}

export function describeMemoryStore(subject: StoreUnderTest): void {
  const { isOnServer = false } = subject;
  const erased = isOnServer ? "pending" : "complete";
  describe(`${subject.name} keeps the memory store's contract`, () => {
    describeWriting(subject.open);
    describeListing(subject.open);
    describeDeleting(subject.open);
    describeDeletingMuch(subject.open, { isOnServer });
    describeHistory(subject.open, erased);
    describeRenewing(subject.open);
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
