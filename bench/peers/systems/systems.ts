/** All systems, in the order of the page. */
import type { System } from "../system.ts";
import { basicMemory } from "./basic-memory.ts";
import { grep } from "./grep.ts";
import { helmdeck, helmdeckEager, helmdeckEmbedder, helmdeckModel } from "./helmdeck.ts";
import { mcpMemoryService } from "./mcp-memory-service.ts";
import { mem0 } from "./mem0.ts";
import { helmdeckNotes, memoryCore, memoryCoreEmbedder } from "./memory-core.ts";
import { memoryMd } from "./memory-md.ts";
import { memoryWiki } from "./memory-wiki.ts";
import { nothing } from "./nothing.ts";
import { qmd } from "./qmd.ts";
import { serverMemory } from "./server-memory.ts";

export const SYSTEMS: readonly System[] = [
  ...[
    nothing,
    memoryMd,
    grep,
    memoryCore,
    memoryCoreEmbedder,
    helmdeck,
    helmdeckModel,
    helmdeckEager,
    helmdeckEmbedder,
    helmdeckNotes,
  ],
  ...[serverMemory, qmd, memoryWiki, basicMemory, mcpMemoryService, mem0],
];
