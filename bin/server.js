#!/usr/bin/env -S MALLOC_MMAP_THRESHOLD_=4194304 MALLOC_TRIM_THRESHOLD_=16777216 node --max-semi-space-size=8 --heap-growing-percent=55
// `sensorium-server`, of the package: starts the server, or runs a command of its operator.
await import("./check-node.js");
await import("./code-cache.js");

const HELP = `Usage: sensorium-server                 starts the server; DATA_DIR (./data) is its data folder
       sensorium-server --migrate       brings the database to this version
       sensorium-server admin COMMAND   runs an operator's command; without one, lists them
       sensorium-server backup FILE     writes a backup of the embedded store
       sensorium-server restore FILE    restores it
       sensorium-server check           shows what is readable of the embedded store
       sensorium-server salvage NEW_DIR copies what is readable into a new folder
       sensorium-server --version

Settings are environment variables, such as PORT, HOST, DATA_DIR and PUBLIC_URL.
`;

const [command, ...rest] = process.argv.slice(2);
switch (command) {
  case undefined:
  case "--migrate":
    await import("./start.js");
    break;
  case "admin":
    await (await import("./admin.ts")).runAdmin(rest);
    break;
  case "backup":
  case "restore":
  case "check":
  case "salvage":
    await import("./data-folder.ts");
    break;
  case "--version": {
    const { readFileSync } = await import("node:fs");
    console.log(JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version);
    break;
  }
  default: {
    const { runExtensionCommand, refusal, usage } = await import("./extension-command.ts");
    if (await runExtensionCommand(command, rest)) break;
    const help = HELP.replace("\n\n", `\n${usage.join("")}\n`);
    if (!/^(-h|--help|help)$/.test(command)) process.exitCode = 2;
    process[process.exitCode ? "stderr" : "stdout"].write(refusal(command, help) + help);
  }
}
