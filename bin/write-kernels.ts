/**
 * `npm run kernels`: assembles each kernel.wat into a kernel.wasm.ts in the same folder, which is what runs. With
 * `--check`, which `npm run lint` uses, writes nothing and fails if a file would change.
 */
import { globSync, readFileSync, writeFileSync } from "node:fs";
import wabt from "wabt";

/**
 * Ways to write `(STEP sum p q x y)`: `sum` plus the products of the 8-bit weights `p` and `q` with the values `x` and
 * `y` of 7 bits, four by four. All compute the same as long as no sum of four products exceeds 16 bits.
 */
const STEPS = {
  /** One instruction a product where the processor has one. */
  DOT: "(i32x4.relaxed_dot_i8x16_i7x16_add_s $q $y (i32x4.relaxed_dot_i8x16_i7x16_add_s $p $x $sum))",
  /** For x86 without it, which widens only every second product. */
  PAIRS:
    "(i32x4.add $sum (i32x4.extadd_pairwise_i16x8_s " +
    "(i16x8.add (i16x8.relaxed_dot_i8x16_i7x16_s $p $x) (i16x8.relaxed_dot_i8x16_i7x16_s $q $y))))",
  /** Without relaxed SIMD. */
  PLAIN: `(i32x4.add $sum (i32x4.add ${plainDot("$p", "$x")} ${plainDot("$q", "$y")}))`,
};

/** Multiplies the lower bytes of 16 bits, then the upper. */
function plainDot(weights: string, values: string): string {
  const lower = `(i16x8.shr_s (i16x8.shl ${weights} (i32.const 8)) (i32.const 8))`;
  const upper = `(i16x8.shr_s ${weights} (i32.const 8))`;
  const mask = "(v128.const i32x4 0x00ff00ff 0x00ff00ff 0x00ff00ff 0x00ff00ff)";
  return (
    `(i32x4.add (i32x4.dot_i16x8_s ${lower} (v128.and ${values} ${mask})) ` +
    `(i32x4.dot_i16x8_s ${upper} (i16x8.shr_u ${values} (i32.const 8))))`
  );
}

const root = new URL("..", import.meta.url);
const { parseWat } = await wabt();
const isCheck = process.argv.includes("--check");

for (const name of globSync("{storage,connectors}/**/kernel.wat", { cwd: root })) {
  const source = new URL(name, root);
  const target = new URL("kernel.wasm.ts", source);
  const wat = readFileSync(source, "utf8");
  const modules = wat.includes("(STEP ")
    ? Object.entries(STEPS).map(([step, spelling]) =>
        constantOf(`KERNEL_${step}`, name, withStep(wat, spelling)),
      )
    : [constantOf("KERNEL", name, wat)];
  const text = `/** Generated from kernel.wat by \`npm run kernels\`: a WebAssembly module in base64. */\n${modules.join("\n")}`;
  if (!isCheck) writeFileSync(target, text);
  else if (readFileSync(target, "utf8") !== text) {
    process.stderr.write(`${name} has changed since it was assembled: run npm run kernels.\n`);
    process.exitCode = 1;
  }
}

function withStep(wat: string, spelling: string): string {
  return wat.replace(/\(STEP (\$\w+) (\$\w+) (\$\w+) (\$\w+) (\$\w+)\)/g, (_, sum, p, q, x, y) => {
    const locals: Record<string, string> = { $sum: sum, $p: p, $q: q, $x: x, $y: y };
    return spelling.replace(/\$\w+/g, (name) => `(local.get ${locals[name]})`);
  });
}

function constantOf(constant: string, name: string, wat: string): string {
  const { buffer } = parseWat(name, wat, { simd: true, relaxed_simd: true }).toBinary({});
  const base64 = Buffer.from(buffer)
    .toString("base64")
    .match(/.{1,90}/g) as string[];
  return `export const ${constant} = [\n${base64.map((part) => `  "${part}",`).join("\n")}\n].join("");\n`;
}
