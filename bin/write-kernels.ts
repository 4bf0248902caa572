/** `npm run kernels`: assembles each kernel.wat into a kernel.wasm.ts in the same folder, which is what runs. */
import { globSync, readFileSync, writeFileSync } from "node:fs";
import wabt from "wabt";

const root = new URL("..", import.meta.url);
const { parseWat } = await wabt();

for (const name of globSync("{storage,connectors}/**/kernel.wat", { cwd: root })) {
  const source = new URL(name, root);
  const parsed = parseWat(name, readFileSync(source, "utf8"), { simd: true, relaxed_simd: true });
  const base64 = Buffer.from(parsed.toBinary({}).buffer)
    .toString("base64")
    .match(/.{1,90}/g) as string[];
  const lines = base64.map((part) => `  "${part}",`).join("\n");
  writeFileSync(
    new URL("kernel.wasm.ts", source),
    `/** Made of kernel.wat by \`npm run kernels\`: a WebAssembly module in base64. */\nexport const KERNEL = [\n${lines}\n].join("");\n`,
  );
}
