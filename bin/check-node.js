// Plain JavaScript, because an older Node cannot load the TypeScript.
import { existsSync } from "node:fs";

const NEEDED = [24, 7];

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < NEEDED[0] || (major === NEEDED[0] && minor < NEEDED[1])) {
  const isCheckout = existsSync(new URL("main.ts", import.meta.url));
  console.error(
    `Sensorium needs Node ${NEEDED.join(".")} or newer. This is ${process.version} on ${process.platform}-${process.arch}.
${isCheckout ? "On linux-x64 and linux-arm64 `npm ci` installs it (unless optional dependencies are omitted).\nElsewhere install it" : "Install it"}: https://nodejs.org/en/download, \`brew install node@24\` or \`nvm install 24\`.`,
  );
  process.exit(1);
}
