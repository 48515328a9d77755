/**
 * The state of memory: doctor's findings with remedies, the storage location, and the progress of the embedding service. A
 * viewer who does not run the server sees only whether memory works, and their own share of it.
 */

import { forCallers, remedyForCallers } from "../../app/health/for-callers.ts";
import { remedyFor } from "../../app/health/remedies.ts";
import type { DoctorReport, EngineStatus, Finding, MemoryStatus } from "../../app/memory.ts";
import { doctorText } from "../../app/presenters/doctor-text.ts";
import { shellWord } from "../../app/presenters/words.ts";
import { extentText } from "../../app/remote/helmdeck/helmdeck-texts.ts";
import { asHelmdeckError, HelmdeckError } from "../../engine/errors.ts";
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
  if (viewer.doctor === undefined) return ownHealth(status, subject);
  const report = await viewer.doctor().catch((error: unknown) => failed(error));
  const found = "findings" in report ? report.findings : [];
  const isSaid = (text: string) => found.some(({ message }) => message.includes(text));
  const body = html`${heading("Health", "What works, what does not, and how to fix it.")}
${failure(status)}${"findings" in report ? findings(report) : tooSlow(report.why)}
<h2>Memory</h2>${memoryCard(status, status.engine === undefined ? place(status) : engine(status, status.engine))}
<h2>Semantic search</h2><section class="card pad" aria-label="Semantic search">${status.engine === undefined ? embeddings(status.embeddings, isSaid) : atTheEngine(status)}</section>`;
  return { title: "Health", section: "health", body };
}

function ownHealth(status: MemoryStatus, subject: string): Page {
  const command = `helmdeck-memory token --subject ${shellWord(line(subject))} --scope admin`;
  const more = html`Whether your memory works. To see more, sign in with a token that has the scope admin. To make one, run on the server: <code>${command}</code>`;
  const body = html`${heading("Health", more)}
${failure(status, forCallers)}${memoryCard(status)}`;
  return { title: "Health", section: "health", body };
}

function failed(error: unknown): { readonly why: string } {
  return { why: asHelmdeckError(error).message };
}

function failure({ error, engine }: MemoryStatus, told = (given: HelmdeckError) => given): Html | undefined {
  if (error === undefined) return undefined;
  const { message } = told(new HelmdeckError(error.code, error.message));
  const remedy = (told === forCallers ? remedyForCallers : remedyFor)(error.code);
  const what =
    engine === undefined
      ? "Memory does not open."
      : "The engine that keeps memory does not answer for this agent.";
  return notice("bad", html`<strong>${what}</strong> ${line(message)} <em>What to do:</em> ${remedy}`);
}

function tooSlow(why: string): Html {
  return notice(
    "warn",
    html`The checks did not finish in time for this page: ${line(why)} Run <code>doctor</code> on a command line, which has no deadline.`,
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

/** One check, such as the key, may have several findings. */
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
${place}${!(engine !== undefined && state === "failed") && html`<dt>Search</dt><dd>${mode === "hybrid" ? "keyword and semantic" : "keyword"}</dd>`}
${subject && html`<dt>Holds</dt><dd>${counted(subject.facts, "fact")}, ${counted(subject.auditRows, "record")} of what tools did</dd>`}
</dl></section>`;
}

function place({ databasePath, keySource, driver }: MemoryStatus): Html {
  return html`<dt>Database</dt><dd><code>${line(databasePath)}</code> <span class="muted">(${line(driver)})</span></dd>
<dt>Key</dt><dd><code>${line(keySource)}</code></dd>
`;
}

/** The engine, and the memory that the agent's token opens there. */
function engine({ subject }: MemoryStatus, { url, kind, version, tookMs, held }: EngineStatus): Html {
  const who = kind === "helmdeck" ? "a running helmdeck" : "an engine elsewhere";
  return html`<dt>Kept by</dt><dd>${who}, <code>${line(url)}</code>${version !== undefined && html` <span class="muted">(version ${line(version)})</span>`}</dd>
<dt>Response time</dt><dd>${duration(tookMs)}</dd>
${held && html`<dt>Loaded here</dt><dd>${extentText(held, Date.now())}</dd>`}
${subject && html`<dt>Memory of</dt><dd><code>${line(subject.name)}</code></dd>`}
`;
}

function atTheEngine({ state, mode, engine }: MemoryStatus): Html {
  if (engine?.kind === "helmdeck") return html`<p>Off: a running helmdeck has keyword search only.</p>`;
  const how =
    state === "failed"
      ? "It is unknown at the moment whether it is on."
      : mode === "hybrid"
        ? "On."
        : "Off, or failing at the moment: keyword search only.";
  return html`<p>${how} It is configured on the engine's server; embedding settings in this host's configuration have no effect.</p>`;
}

/** `isSaid`: the findings above say it already. */
function embeddings(status: MemoryStatus["embeddings"], isSaid: (text: string) => boolean): Html {
  if (status === undefined || status.provider === "none") {
    const why = status?.problem ?? "No embedding service is configured.";
    return html`<p>Off, so only keyword search works${isSaid(why) ? "." : html`: ${line(why)}`}</p><p>With a model, search also finds facts that say the same in other words.</p>`;
  }
  if (status.provider === "unusable") {
    return html`<p>${chip("✗ off", "bad")} ${isSaid(status.problem) ? "" : html`${line(status.problem)}</p><p><span class="muted">What to do:</span> Correct the settings of the embedding service. `}Keyword search still works.</p>`;
  }
  const { provider, url, model, embedded, waiting, refused, failure } = status;
  const total = embedded + waiting + refused;
  return html`<dl class="facts">
<dt>Service</dt><dd>${url === undefined ? "built in" : html`${line(provider)} at <code>${line(url)}</code>`}</dd>
<dt>Model</dt><dd><code>${line(model)}</code></dd>
<dt>Progress</dt><dd>${number(embedded)} of ${number(total)} entries of the open memories${waiting > 0 ? `, ${number(waiting)} waiting` : ""}${refused > 0 ? `, ${number(refused)} refused (keyword search only)` : ""}</dd>
<dt>Last failure</dt><dd>${failure === undefined ? html`<span class="muted">none</span>` : html`${isSaid(failure) ? "See above." : line(failure)} <span class="muted">Keyword search still works; the service is retried automatically.</span>`}</dd>
</dl>`;
}
