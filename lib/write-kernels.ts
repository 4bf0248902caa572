/** `npm run kernel`: assembles kernel.wat into kernel.wasm.ts, which the search thread loads. */
import { readFileSync, writeFileSync } from "node:fs";
import wabt from "wabt";

const here = (name: string) => new URL(name, import.meta.url);
const source = readFileSync(here("kernel.wat"), "utf8");
const { parseWat } = await wabt();
const { buffer } = parseWat("kernel.wat", source, { simd: true }).toBinary({});
const base64 = Buffer.from(buffer)
  .toString("base64")
  .match(/.{1,90}/g) as string[];
const lines = base64.map((part) => `  "${part}",`).join("\n");
writeFileSync(
  here("kernel.wasm.ts"),
  `/** Made of kernel.wat by \`npm run kernel\`: a WebAssembly module in base64. */\nexport const KERNEL = [\n${lines}\n].join("");\n`,
);
