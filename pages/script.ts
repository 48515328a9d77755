/** The pages' only script. Pages work without it, except that searching in a frame that blocks forms, and copying, need it. */
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
})();`;
