/**
 * How memory is: what doctor finds, in words, with what to do; where it lies; how far the embedding service is. Of these, who does
 * not run the machine sees whether memory works, and what of it is theirs.
 */
import {
  asHelmdeckError,
  type DoctorReport,
  doctorText,
  type EngineStatus,
  extentText,
  type Finding,
  type MemoryStatus,
  remedyFor,
} from "../../app/index.ts";
import { chip, heading, notice, type Tone } from "../components/parts.ts";
import { type Html, html, line } from "../html.ts";
import type { Page, PageContext } from "../page.ts";
import { counted, duration, number } from "../words.ts";

const LEVELS = {
  ok: { tone: "ok", word: "✓ fine" },
  warning: { tone: "warn", word: "! warning" },
  error: { tone: "bad", word: "✗ error" },
} as const satisfies Record<Finding["level"], { tone: Tone; word: string }>;

export async function healthPage(context: PageContext): Promise<Page> {
  const { memory, subject, viewer } = context;
  const status = await memory.status(subject);
  if (viewer.doctor === undefined) return ownHealth(status);
  const report = await viewer.doctor().catch((error: unknown) => failed(error));
  const body = html`${heading("Health", "What works, what does not, and what to do about it.")}
${failure(status)}${"findings" in report ? findings(report) : tooSlow(report.why)}
<h2>Memory</h2>${memoryCard(status, status.engine === undefined ? place(status) : engine(status, status.engine))}
<h2>Search by meaning</h2><section class="card pad" aria-label="Search by meaning">${status.engine === undefined ? embeddings(status.embeddings) : atTheEngine(status)}</section>`;
  return { title: "Health", section: "health", body };
}

function ownHealth(status: MemoryStatus): Page {
  const body = html`${heading("Health", "Whether your memory works. Who runs this server sees more: sign in with a token that has the scope admin.")}
${failure(status)}${memoryCard(status)}`;
  return { title: "Health", section: "health", body };
}

function failed(error: unknown): { readonly why: string } {
  return { why: asHelmdeckError(error).message };
}

function failure({ error, engine }: MemoryStatus): Html | undefined {
  if (error === undefined) return undefined;
  const what =
    engine === undefined
      ? "Memory does not open."
      : "The engine that keeps memory does not answer for this agent.";
  return notice(
    "bad",
    html`<strong>${what}</strong> ${line(error.message)} <em>What to do:</em> ${remedyFor(error.code)}`,
  );
}

function tooSlow(why: string): Html {
  return notice(
    "warn",
    html`The full examination could not be finished for this page: ${line(why)} On a command line, <code>doctor</code> takes the time it needs.`,
  );
}

function findings(report: DoctorReport): Html {
  const conclusion = doctorText(report, { style: (_, text) => text }).answer.at(-1) ?? "";
  const worst = report.findings.some(({ level }) => level === "error")
    ? "bad"
    : report.findings.some(({ level }) => level === "warning")
      ? "warn"
      : "ok";
  return html`${notice(worst, html`<strong>${conclusion}</strong>`)}<ul class="card rows">${[...Map.groupBy(report.findings, ({ check }) => check)].map(([check, found]) => checked(check, found))}</ul>`;
}

/** Doctor may find several things out about one, such as the key. */
function checked(check: string, found: readonly Finding[]): Html {
  const name = line(check);
  return html`<li><h3>${name.slice(0, 1).toUpperCase()}${name.slice(1)}</h3>${found.map(finding)}</li>`;
}

function finding({ level, message, remedy }: Finding): Html {
  const { tone, word } = LEVELS[level];
  return html`<div class="finding"><div>${chip(word, tone)}</div><div><p>${line(message)}</p>${
    remedy !== undefined && html`<p><span class="muted">What to do:</span> ${line(remedy)}</p>`
  }</div></div>`;
}

function memoryCard({ mode, subject, state, engine }: MemoryStatus, place?: Html): Html {
  const [open, shut] = engine === undefined ? ["✓ open", "✗ does not open"] : ["✓ reached", "✗ not reached"];
  return html`<section class="card pad" aria-label="Memory"><dl class="facts">
<dt>State</dt><dd>${state === "ready" ? chip(open, "ok") : chip(shut, "bad")}</dd>
${place}${!(engine !== undefined && state === "failed") && html`<dt>Search</dt><dd>${mode === "hybrid" ? "by words and meaning" : "by words"}</dd>`}
${subject && html`<dt>Holds</dt><dd>${counted(subject.facts, "fact")}, ${counted(subject.auditRows, "record")} of what tools did</dd>`}
</dl></section>`;
}

function place({ databasePath, keySource, driver }: MemoryStatus): Html {
  return html`<dt>Database</dt><dd><code>${line(databasePath)}</code> <span class="muted">(${line(driver)})</span></dd>
<dt>Key</dt><dd><code>${line(keySource)}</code></dd>
`;
}

/** Which one it is, and whose memory the agent's token opens there. */
function engine({ subject }: MemoryStatus, { url, kind, version, tookMs, held }: EngineStatus): Html {
  const who = kind === "helmdeck" ? "a running helmdeck" : "an engine elsewhere";
  return html`<dt>Kept by</dt><dd>${who}, <code>${line(url)}</code>${version !== undefined && html` <span class="muted">(version ${line(version)})</span>`}</dd>
<dt>It took</dt><dd>${duration(tookMs)}</dd>
${held && html`<dt>Known here</dt><dd>${extentText(held, Date.now())}</dd>`}
${subject && html`<dt>Memory of</dt><dd><code>${line(subject.name)}</code></dd>`}
`;
}

function atTheEngine({ state, mode, engine }: MemoryStatus): Html {
  if (engine?.kind === "helmdeck") return html`<p>Off: what helmdeck keeps is searched by words alone.</p>`;
  const how =
    state === "failed"
      ? "Whether it is on is not known now."
      : mode === "hybrid"
        ? "On."
        : "Off: search works by words alone.";
  return html`<p>${how} It is set up where the engine runs; what this host's configuration says of an embedding service does not count.</p>`;
}

function embeddings(status: MemoryStatus["embeddings"]): Html {
  if (status === undefined || status.provider === "none") {
    return html`<p>Off: no embedding service is set up. Search works by words alone. An embedding service lets it also find what says the same in other words.</p>`;
  }
  if (status.provider === "unusable") {
    return html`<p>${chip("✗ off", "bad")} ${line(status.problem)}</p><p><span class="muted">What to do:</span> Correct the settings of the embedding service; search goes on by words.</p>`;
  }
  const { provider, url, model, embedded, waiting, refused, failure } = status;
  const total = embedded + waiting + refused;
  return html`<dl class="facts">
<dt>Service</dt><dd>${line(provider)} at <code>${line(url)}</code></dd>
<dt>Model</dt><dd><code>${line(model)}</code></dd>
<dt>How far it is</dt><dd>${number(embedded)} of ${number(total)} entries of the memories that are open now${waiting > 0 ? `, ${number(waiting)} waiting` : ""}${refused > 0 ? `, ${number(refused)} refused (found by words alone)` : ""}</dd>
<dt>Last failure</dt><dd>${failure === undefined ? html`<span class="muted">none</span>` : html`${line(failure)} <span class="muted">Search goes on by words and tries again by itself.</span>`}</dd>
</dl>`;
}
