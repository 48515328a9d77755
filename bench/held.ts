import { conversationsOfFolder } from "./recall/conversations.ts";
import { askConversations, conversationsSection } from "./recall/locomo.ts";
import { askNatural } from "./recall/natural.ts";
import { naturalSection } from "./recall/natural-section.ts";
import { askParaphrases, paraphrasesSection } from "./recall/paraphrases.ts";
import { benchEmbedder } from "./recall/bench-recall.ts";
import { openBench } from "./recall/recall-systems.ts";
import { askForSure, sureSection } from "./recall/sure-hits.ts";
import { askChanges, askCost, askNames, askTwoTopics, changesSection, costSection, namesSection, twoTopicsSection } from "./recall/whole-answers.ts";
import { WEIGHTS } from "../recall/weights.ts";

const embedder = benchEmbedder("builtin");
const W: any = WEIGHTS;
(globalThis as any).OFF = new Set<string>();
const OFF = (globalThis as any).OFF as Set<string>;
function set(path: string, v: number) { const n = path.split("."); const l = n.pop()!; let o = W; for (const x of n) o = o[x]; const old = o[l]; o[l] = v; return () => { o[l] = old; }; }
const rows = (md: string, ...need: string[]) => md.split("\n").filter((l) => l.startsWith("|") && need.every((n) => l.includes(n)));
const cells = (row: string) => row.split("|").slice(1, -1).map((c) => c.trim());
async function figures(): Promise<string> {
  const bench = await openBench(embedder);
  const out: string[] = [];
  try {
    const p = paraphrasesSection(await askParaphrases(bench), "").markdown;
    for (const s of ["keywords, as", "hybrid, as"]) { const c = cells(rows(p, s)[0]!); out.push(`para ${s.slice(0, 3)} first ${c[1]} three ${c[2]} false ${c[4]} poss ${c[7]}`); }
    const su = sureSection(await askForSure(bench), "").markdown;
    for (const by of ["keywords", "hybrid"]) for (const set of ["facts as people", "20 everyday", "everyday questions", "personal", "**all**"]) {
      const c = cells(rows(su, set, `| ${by} |`, "held out").find((r) => set !== "everyday questions" || r.startsWith("| everyday q"))!);
      out.push(`sure ${by.slice(0, 3)} ${set.replaceAll("*", "").slice(0, 12)} first ${c[4]} three ${c[6]} right ${c[7]} wrong ${c[8]} alarm ${c[9]}`);
    }
    const c1 = costSection(await askCost(bench), "").markdown;
    for (const by of ["keywords", "hybrid"]) { const r = rows(c1, `| ${by} |`, "held out"); const t = cells(r[0]!); const a = cells(r.at(-1)!); out.push(`cost ${by.slice(0, 3)} tok ${t[2]} ${t[3]} ${t[4]} right ${t[6]} unans hits ${a[4]} most ${a[5]} sure ${a[6]}`); }
    if (process.env.FULL) {
      const n = namesSection(await askNames(bench), "").markdown;
      for (const by of ["keywords", "hybrid"]) { const c = cells(rows(n, `| ${by} |`, "held out")[0]!); out.push(`names ${by.slice(0, 3)} shown ${c[3]} sure ${c[4]} all ${c[5]} others ${c[6]}`); }
      const t = twoTopicsSection(await askTwoTopics(bench), "").markdown;
      for (const by of ["keywords", "hybrid"]) { const c = cells(rows(t, `| ${by} |`, "held out")[0]!); out.push(`topics ${by.slice(0, 3)} both ${c[2]} sure ${c[4]} hits ${c[5]} others ${c[6]}`); }
      const ch = changesSection(await askChanges(bench), "").markdown;
      for (const by of ["keywords", "hybrid"]) { for (const r of rows(ch, `| ${by} |`, "held out")) out.push(`changes ${by.slice(0, 3)} ${cells(r).slice(2).join("; ")}`); }
      const na = naturalSection(await askNatural(bench), "").markdown;
      for (const s of ["**keywords", "**hybrid"]) for (const r of rows(na, s).slice(0, 3)) { const c = cells(r); out.push(`natural ${s.slice(2, 5)} ${c[0]} own ${c[2]} part ${c[3]} para ${c[4]} all ${c[5]} sure ${c[6]} other ${c[7]} poss ${c[8]} sure ${c[9]}`); }
    }
    if (process.env.LOCOMO) {
      const conv = conversationsOfFolder("/work/shared/data/locomo-dev").slice(0, Number(process.env.LOCOMO));
      const l = conversationsSection(conv, await askConversations(bench, conv), "").markdown;
      for (const s of ["keywords, as", "hybrid, as"]) { const c = cells(rows(l, s)[0]!); out.push(`locomo ${s.slice(0, 3)} @5 ${c[1]} @10 ${c[2]} @25 ${c[3]} any5 ${c[5]} any10 ${c[6]}`); }
      out.push(l.split("\n").filter((x) => x.startsWith("The unanswerable")).join(" ").slice(-160));
    }
  } finally { await bench.close(); }
  return out.join("\n");
}
let base: string[] | undefined;
try {
  for (const variant of process.argv.slice(2)) {
    const undo: (() => void)[] = [];
    if (variant !== "base") for (const one of variant.split("+")) {
      if (one.includes("=")) { const [p, v] = one.split("="); undo.push(set(p!, Number(v))); }
      else OFF.add(one);
    }
    const begun = performance.now();
    const got = (await figures()).split("\n");
    for (const u of undo) u(); OFF.clear();
    console.log(`\n### ${variant} (${Math.round((performance.now() - begun) / 1000)} s)`);
    if (base === undefined) { base = got; console.log(got.join("\n")); }
    else { let same = true; got.forEach((l, i) => { if (l !== base![i]) { same = false; console.log(`- ${base![i]}\n+ ${l}`); } }); if (same) console.log("identical"); }
  }
} finally { embedder?.close(); }
process.exit(0);
