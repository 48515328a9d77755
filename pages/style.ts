/** The pages' only stylesheet: system fonts, one accent colour, light and dark, for widths from 360 pixels. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --bg: #f7f7f9; --surface: #ffffff; --sunken: #f1f1f5; --line: #e1e1e8; --strong-line: #8a8a99;
  --text: #1b1b22; --muted: #5a5a68; --accent: #4338ca; --accent-text: #ffffff; --accent-soft: #eceefe;
  --ok: #166534; --ok-soft: #e4f5ea; --warn: #7a4a05; --warn-soft: #fdf1d3; --bad: #991b1b; --bad-soft: #fdeaea;
  --mark: #fdeaa0; --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --bg: #101013; --surface: #18181d; --sunken: #212128; --line: #2e2e37; --strong-line: #777787;
    --text: #ececf2; --muted: #a6a6b5; --accent: #a9b4fd; --accent-text: #14141c; --accent-soft: #24263f;
    --ok: #86efac; --ok-soft: #12301d; --warn: #fcd471; --warn-soft: #35290d; --bad: #fca5a5; --bad-soft: #3b1719;
    --mark: #5b4a10;
  }
}
*, *::before, *::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0; background: var(--bg); color: var(--text);
  font: 15px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  overflow-wrap: anywhere;
}
a { color: var(--accent); text-underline-offset: 0.15em; text-decoration-thickness: 1px; }
a:hover { text-decoration-thickness: 2px; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0; font-weight: 650; letter-spacing: -0.01em; }
h2 { font-size: 1.02rem; margin: 2rem 0 0.6rem; font-weight: 620; }
h3 { font-size: 0.95rem; margin: 0; font-weight: 600; }
p { margin: 0.4rem 0; }
ul, ol { padding: 0; margin: 0; list-style: none; }
code, pre, .mono { font-family: var(--mono); font-size: 0.88em; }
pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; tab-size: 4; }
mark { background: var(--mark); color: inherit; border-radius: 3px; padding: 0 0.1em; }
.muted { color: var(--muted); }
.off-screen, .visually-hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.skip { position: absolute; left: -999rem; top: 0.5rem; background: var(--surface); padding: 0.5rem 0.9rem; z-index: 2; }
.skip:focus { left: 0.5rem; }
.wrap { max-width: 62rem; margin: 0 auto; padding: 0 1.25rem; }
.top { background: var(--surface); border-bottom: 1px solid var(--line); }
.bar { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 0.4rem 1rem; padding-top: 0.85rem; }
.brand { display: flex; align-items: center; gap: 0.55rem; font-weight: 650; color: var(--text); text-decoration: none; }
.brand svg { width: 1.25rem; height: 1.25rem; color: var(--accent); flex: none; }
.who { display: flex; align-items: center; gap: 0.75rem; font-size: 0.88rem; flex-wrap: wrap; }
.who form { margin: 0; }
nav.sections ul { display: flex; flex-wrap: wrap; gap: 0 1.15rem; margin-top: 0.45rem; }
nav.sections a { display: block; padding: 0.45rem 0 0.5rem; color: var(--muted); text-decoration: none; border-bottom: 2px solid transparent; font-size: 0.92rem; }
nav.sections a:hover { color: var(--text); border-color: var(--line); }
nav.sections a[aria-current] { color: var(--text); border-color: var(--accent); font-weight: 600; }
main.wrap { padding-top: 1.6rem; padding-bottom: 3rem; }
main:focus { outline: none; }
footer { border-top: 1px solid var(--line); color: var(--muted); font-size: 0.82rem; padding: 1rem 0 2rem; }
.head { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 0.6rem 1rem; margin-bottom: 0.9rem; }
.head p { margin: 0.15rem 0 0; }
.card { background: var(--surface); border: 1px solid var(--line); border-radius: 10px; }
.pad { padding: 1rem 1.15rem; }
.rows > li { padding: 0.8rem 1.15rem; }
.rows > li + li { border-top: 1px solid var(--line); }
.rows h3 a { text-decoration: none; }
.rows h3 a:hover { text-decoration: underline; }
.meta { display: flex; flex-wrap: wrap; gap: 0.1rem 0.9rem; color: var(--muted); font-size: 0.84rem; margin: 0.2rem 0 0; }
.chip { display: inline-block; font-size: 0.78rem; line-height: 1.5; padding: 0 0.5em; border-radius: 999px; background: var(--sunken); color: var(--text); border: 1px solid var(--line); }
.chip.ok { background: var(--ok-soft); color: var(--ok); border-color: transparent; }
.chip.warn { background: var(--warn-soft); color: var(--warn); border-color: transparent; }
.chip.bad { background: var(--bad-soft); color: var(--bad); border-color: transparent; }
.chip.soft { background: var(--accent-soft); color: var(--accent); border-color: transparent; }
.chips { display: flex; flex-wrap: wrap; gap: 0.35rem; }
.notice { border-radius: 10px; padding: 0.75rem 1rem; margin: 0 0 1rem; background: var(--accent-soft); border: 1px solid var(--line); }
.notice.ok { background: var(--ok-soft); color: var(--ok); }
.notice.warn { background: var(--warn-soft); color: var(--warn); }
.notice.bad { background: var(--bad-soft); color: var(--bad); }
.notice a { color: inherit; }
.notice p { margin: 0.15rem 0; }
.empty { text-align: center; padding: 2.6rem 1.25rem; }
.empty p { max-width: 34rem; margin: 0.35rem auto; }
.empty strong { font-size: 1.05rem; }
.search { display: flex; gap: 0.5rem; margin: 0 0 0.75rem; }
.search input { flex: 1 1 12rem; min-width: 0; }
.filters { display: flex; flex-wrap: wrap; gap: 0.5rem 0.75rem; align-items: end; margin: 0 0 1rem; }
.filters label { font-size: 0.84rem; color: var(--muted); display: grid; gap: 0.2rem; min-width: 0; }
.filters select { max-width: 100%; }
input, select, textarea { font: inherit; color: inherit; background: var(--surface); border: 1px solid var(--strong-line); border-radius: 7px; padding: 0.42rem 0.65rem; max-width: 100%; min-width: 0; }
textarea { width: 100%; font-family: var(--mono); font-size: 0.9rem; line-height: 1.5; resize: vertical; tab-size: 4; }
input[type=text], input[type=search] { width: 100%; }
input[type=text], input[type=search], select { min-height: 2.35rem; }
input[type=radio], input[type=checkbox] { accent-color: var(--accent); width: auto; }
[aria-invalid=true] { border-color: var(--bad); border-width: 2px; }
button, .button { display: inline-block; font: inherit; font-weight: 500; min-height: 2.35rem; padding: 0.42rem 0.9rem; border-radius: 7px; border: 1px solid var(--strong-line); background: var(--surface); color: var(--text); text-decoration: none; cursor: pointer; white-space: nowrap; }
button:hover, .button:hover { background: var(--sunken); }
.primary { background: var(--accent); border-color: var(--accent); color: var(--accent-text); }
.primary:hover { background: var(--accent); filter: brightness(1.12); }
.danger { background: var(--bad); border-color: var(--bad); color: var(--surface); }
.danger:hover { background: var(--bad); filter: brightness(1.12); }
.quiet { border-color: transparent; background: none; color: var(--accent); padding-left: 0.4rem; padding-right: 0.4rem; }
.small { font-size: 0.84rem; min-height: 0; padding: 0.22rem 0.65rem; }
.actions { display: flex; flex-wrap: wrap; gap: 0.5rem; align-items: center; margin: 1rem 0; }
.pages { display: flex; flex-wrap: wrap; gap: 0.6rem; margin-top: 1rem; }
.value { padding: 1rem 1.15rem; font-size: 0.92rem; line-height: 1.6; }
.label:last-child { padding-bottom: 0.8rem; }
.two + form, .two + p { margin-top: 1.2rem; }
dl.facts { display: grid; grid-template-columns: minmax(7rem, 10rem) minmax(0, 1fr); gap: 0.5rem 1.25rem; margin: 0; }
dl.facts dt { color: var(--muted); font-size: 0.88rem; }
dl.facts dd { margin: 0; min-width: 0; }
.command { display: grid; gap: 0.3rem; padding: 0.75rem 1.15rem; }
.command + .command { border-top: 1px solid var(--line); }
.command.inline { padding: 0.5rem 0 0; }
.command div { display: flex; gap: 0.6rem; align-items: center; justify-content: space-between; }
.command code { background: var(--sunken); border-radius: 6px; padding: 0.35rem 0.6rem; flex: 1; min-width: 0; }
.below { margin: 1rem 0; }
.pick { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 0.75rem; }
.pick input { width: 1.05rem; height: 1.05rem; margin: 0.2rem 0 0; }
.selection { display: flex; flex-wrap: wrap; gap: 0.5rem 0.75rem; align-items: center; margin: 1rem 0; }
.selection label { display: flex; align-items: center; gap: 0.4rem; padding: 0; } .selection input { max-width: 11rem; }
@media (min-width: 40rem) { form:has([name=chosen]:checked) .selection { position: sticky; bottom: 0; box-shadow: 0 -2px 12px rgb(0 0 0 / 0.08); } }
.rows .head { margin: 0; flex-wrap: nowrap; align-items: start; } .rows .head .chip { flex-shrink: 0; max-width: 50%; }
.rows .mono { color: var(--muted); margin: 0.1rem 0; font-size: 0.8rem; }
details > summary { cursor: pointer; color: var(--muted); font-size: 0.88rem; width: fit-content; max-width: 100%; }
details[open] > summary { margin-bottom: 0.5rem; }
.picker { position: relative; }
.picker ul { position: absolute; right: 0; z-index: 1; min-width: 11rem; max-height: 60vh; overflow: auto; padding: 0.35rem; box-shadow: 0 6px 24px rgb(0 0 0 / 0.18); }
.picker li a { display: block; padding: 0.3rem 0.6rem; text-decoration: none; border-radius: 6px; color: var(--text); }
.picker li a:hover, .picker li a[aria-current] { background: var(--sunken); }
.why { font-size: 0.88rem; margin: 0.35rem 0 0.2rem; }
.why li { padding-left: 1rem; position: relative; }
.why li::before { content: "·"; position: absolute; left: 0.3rem; color: var(--muted); }
.table { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 0.88rem; }
caption { text-align: left; color: var(--muted); padding: 0.5rem 0; font-size: 0.84rem; }
th, td { text-align: left; padding: 0.4rem 0.75rem 0.4rem 0; border-bottom: 1px solid var(--line); vertical-align: top; font-weight: 400; }
thead th { color: var(--muted); font-size: 0.82rem; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; padding-right: 0; padding-left: 0.75rem; }
.run { display: grid; grid-template-columns: 5.2rem minmax(0, 1fr) auto; gap: 0.1rem 0.9rem; align-items: baseline; }
.run time { color: var(--muted); font-variant-numeric: tabular-nums; font-size: 0.88rem; }
.run .inputs { grid-column: 2 / -1; color: var(--muted); font-size: 0.84rem; }
.inputs code { color: var(--text); }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: 0.75rem; margin: 0 0 1.25rem; }
.tile strong { display: block; font-size: 1.55rem; font-weight: 650; line-height: 1.2; letter-spacing: -0.01em; font-variant-numeric: tabular-nums; }
.chart { width: 100%; height: 0.4rem; display: block; border-radius: 2px; }
.chart .a { fill: var(--accent); } .chart .b { fill: var(--strong-line); }
.two { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 0.75rem; }
.two .card { min-width: 0; }
.label { font-size: 0.8rem; color: var(--muted); padding: 0.6rem 1.15rem 0; }
.field { display: grid; gap: 0.25rem; margin: 0 0 1rem; max-width: 46rem; }
.field > label, fieldset > legend { font-weight: 570; }
.field .hint { color: var(--muted); font-size: 0.84rem; margin: 0; }
.field.narrow { max-width: 22rem; }
fieldset { border: 0; padding: 0; margin: 0 0 1rem; }
fieldset label { display: block; padding: 0.2rem 0; }
.finding { display: grid; grid-template-columns: 6rem minmax(0, 1fr); gap: 0.2rem 0.8rem; }
.finding > div { min-width: 0; }
@media (max-width: 40rem) {
  .table { padding-left: 0.6rem; padding-right: 0.6rem; } td.n, th.n { padding-left: 0.4rem; } table { font-size: 0.82rem; }
  .wrap { padding-left: 0.9rem; padding-right: 0.9rem; }
  dl.facts, .finding, .two { grid-template-columns: minmax(0, 1fr); }
  dl.facts { gap: 0.1rem; } dl.facts dd { margin-bottom: 0.55rem; }
  .rows > li, .pad, .command, .value { padding-left: 0.9rem; padding-right: 0.9rem; }
  .run { grid-template-columns: minmax(0, 1fr) auto; } .run time { grid-column: 1 / -1; } .run .inputs { grid-column: 1 / -1; }
  nav.sections ul { gap: 0 0.9rem; }
  .command div { flex-direction: column; align-items: stretch; }
  .picker ul { left: 0; right: auto; }
}
@media (prefers-reduced-motion: no-preference) { a, button, .button { transition: background-color 0.12s, border-color 0.12s; } }
@media (forced-colors: active) { .chip, .primary { border-color: currentColor; } }
`;
