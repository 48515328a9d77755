#!/usr/bin/env node
/**
 * Stands in for Claude Code's command: changes its files as version 2.1.197 does, also what it leaves behind. The nightly test runs the
 * real one (test/server/howto-clients.nightly.test.ts).
 */
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const config = process.env.CLAUDE_CONFIG_DIR ?? join(process.env.HOME, ".claude");
const args = process.argv.slice(2);
const at = (name) => join(config, name);
const read = (name, none) => {
  try {
    return JSON.parse(readFileSync(at(name), "utf8"));
  } catch {
    return none;
  }
};
const change = (name, none, edit) => {
  const value = read(name, none);
  edit(value);
  writeFileSync(at(name), JSON.stringify(value, null, 2));
};
const edit = (set) => {
  mkdirSync(at("plugins/cache/helmdeck-memory/helmdeck-memory/0.2.0"), { recursive: true });
  mkdirSync(at("plugins/marketplaces"), { recursive: true });
  const id = "helmdeck-memory@helmdeck-memory";
  const [what, , name] = set;
  if (what === "marketplace")
    change("plugins/known_marketplaces.json", {}, (known) => {
      if (name === undefined) delete known["helmdeck-memory"];
      else known["helmdeck-memory"] = { source: { source: "directory", path: name }, installLocation: name };
    });
  else
    change("plugins/installed_plugins.json", { version: 2, plugins: {} }, ({ plugins }) => {
      if (name === undefined) delete plugins[id];
      else plugins[id] = [{ scope: "user" }];
    });
  change("settings.json", {}, (settings) => {
    settings.enabledPlugins ??= {};
    settings.extraKnownMarketplaces ??= {};
    if (what === "marketplace" && name === undefined)
      delete settings.extraKnownMarketplaces["helmdeck-memory"];
    else if (what === "marketplace") settings.extraKnownMarketplaces["helmdeck-memory"] = { source: name };
    else if (name === undefined) delete settings.enabledPlugins[id];
    else settings.enabledPlugins[id] = true;
  });
};

appendFileSync(join(process.env.HOME, "called.txt"), `${args.join(" ")}\n`);
const called = args.join(" ");
if (called === "--version") console.log("2.1.197 (Claude Code)");
else if (process.env.CLAUDE_FAILS !== undefined) process.exit(1);
else if (called.startsWith("plugin marketplace add ")) edit(["marketplace", "add", args[3]]);
else if (called === "plugin install helmdeck-memory@helmdeck-memory") edit(["plugin", "install", args[2]]);
else if (called === "plugin uninstall helmdeck-memory@helmdeck-memory") edit(["plugin", "uninstall"]);
else if (called === "plugin marketplace remove helmdeck-memory") edit(["marketplace", "remove"]);
else process.exit(1);
