/**
 * The pages' only script. It shows times, which the server writes in UTC, in the reader's time zone, and sorts a list of days anew by
 * them. Pages work without it, except that searching in a frame that blocks forms, and copying, need it.
 */
export const SCRIPT = `"use strict";
(() => {
  const go = (form) => {
    const given = [...new FormData(form)].filter(([, value]) => value !== "");
    location.href = form.getAttribute("action") + "?" + new URLSearchParams(given);
  };
  for (const form of document.querySelectorAll("form[method=get]")) {
    form.addEventListener("click", (event) => {
      if (!event.target.closest("button")) return;
      event.preventDefault();
      go(form);
    });
    form.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.isComposing || event.target.tagName !== "INPUT") return;
      event.preventDefault();
      go(form);
    });
  }
  const { alive } = document.body.dataset;
  if (alive) setInterval(() => fetch(alive).catch(() => {}), 60000);
  const byHand = (text) => {
    const area = document.createElement("textarea");
    area.value = text;
    area.setAttribute("readonly", "");
    area.className = "off-screen";
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  };
  const copy = async (text) => {
    if (byHand(text)) return true;
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      return false;
    }
  };
  for (const button of document.querySelectorAll("button[data-copy]")) {
    button.hidden = false;
    const said = button.textContent;
    button.addEventListener("click", async () => {
      const done = await copy(document.getElementById(button.dataset.copy).textContent);
      button.focus();
      button.textContent = done ? "Copied" : "Copy it by hand";
      setTimeout(() => { button.textContent = said; }, 2000);
    });
  }
  const two = (number) => String(number).padStart(2, "0");
  const clockOf = (at) => two(at.getHours()) + ":" + two(at.getMinutes());
  for (const time of document.querySelectorAll("time[datetime*=T]")) {
    const at = new Date(time.dateTime);
    const minute = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join("-") + " " + clockOf(at);
    if (time.title !== "") time.title = minute;
    else time.textContent = time.closest(".run") === null ? minute : clockOf(at) + ":" + two(at.getSeconds());
  }
  const long = { weekday: "long", day: "numeric", month: "long", year: "numeric" };
  const dayName = new Intl.DateTimeFormat("en-GB", long);
  const { timeZone } = dayName.resolvedOptions();
  document.getElementById("zone").textContent = "All times are in your time zone, " + timeZone + ".";
  for (const days of document.querySelectorAll(".days")) {
    const rows = [...days.querySelectorAll("li.run")];
    const byDay = Map.groupBy(rows, (row) => {
      const time = row.querySelector("time");
      if (time === null) return "At no known time";
      const at = time.dateTime.includes("T") ? time.dateTime : time.dateTime + "T00:00";
      return dayName.format(new Date(at)).replace(",", "");
    });
    days.replaceChildren(...[...byDay].flatMap(([name, ofDay]) => {
      const heading = document.createElement("h2");
      heading.textContent = name;
      const list = document.createElement("ul");
      list.className = "card rows";
      list.append(...ofDay);
      return [heading, list];
    }));
  }
})();`;
