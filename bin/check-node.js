// Plain JavaScript, because an older Node cannot load the TypeScript.
const NEEDED = [24, 7];

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < NEEDED[0] || (major === NEEDED[0] && minor < NEEDED[1])) {
  console.error(
    `Sensorium needs Node ${NEEDED.join(".")} or newer. This is ${process.version} on ${process.platform}-${process.arch}.
On linux-x64 and linux-arm64 \`npm ci\` installs it (unless optional dependencies are omitted).
Elsewhere install it: https://nodejs.org/en/download, \`brew install node@24\` or \`nvm install 24\`.`,
  );
  process.exit(1);
}
