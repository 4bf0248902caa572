/**
 * `npm run kernels`: assembles each kernel.wat into the files in the same folder that run: kernel.wasm, or
 * kernel.dot.wasm and kernel.plain.wasm. With `--check`, which `npm run lint` uses, writes nothing and fails if a file
 * would change.
 */
import { globSync, readFileSync, writeFileSync } from "node:fs";
import wabt from "wabt";

/**
 * Ways to write `(STEP sum p q x y)`: `sum` plus the products of the 8-bit weights `p` and `q` with the values `x` and
 * `y` of 7 bits, four by four. All compute the same as long as no sum of four products exceeds 16 bits.
 */
const STEPS = {
  /** One instruction a product where the processor has one. */
  dot: "(i32x4.relaxed_dot_i8x16_i7x16_add_s $q $y (i32x4.relaxed_dot_i8x16_i7x16_add_s $p $x $sum))",
  /** Without relaxed SIMD. */
  plain: `(i32x4.add $sum (i32x4.add ${plainDot("$p", "$x")} ${plainDot("$q", "$y")}))`,
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
  const wat = readFileSync(new URL(name, root), "utf8");
  if (!wat.includes("(STEP ")) write(name, "kernel.wasm", wat);
  else
    for (const [step, spelling] of Object.entries(STEPS))
      write(name, `kernel.${step}.wasm`, withStep(wat, spelling));
}

function write(source: string, file: string, wat: string): void {
  const { buffer } = parseWat(source, wat, { simd: true, relaxed_simd: true }).toBinary({});
  const target = new URL(file, new URL(source, root));
  if (!isCheck) writeFileSync(target, buffer);
  else if (!readFileSync(target).equals(buffer)) {
    process.stderr.write(`${source} has changed since it was assembled: run npm run kernels.\n`);
    process.exitCode = 1;
  }
}

function withStep(wat: string, spelling: string): string {
  return wat.replace(/\(STEP (\$\w+) (\$\w+) (\$\w+) (\$\w+) (\$\w+)\)/g, (_, sum, p, q, x, y) => {
    const locals: Record<string, string> = { $sum: sum, $p: p, $q: q, $x: x, $y: y };
    return spelling.replace(/\$\w+/g, (name) => `(local.get ${locals[name]})`);
  });
}
