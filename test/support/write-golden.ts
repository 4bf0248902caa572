/** `npm run chart`: writes the golden files of the Helm chart, which show what a change of it changes. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { GOLDEN, render, VALUES } from "./chart.ts";
import { getNeed } from "./needs.ts";

const why = await getNeed("helm", console.log);
if (why) throw new Error(`helm: ${why.why}`);
for (const name of Object.keys(VALUES)) await writeFile(join(GOLDEN, `${name}.yaml`), await render(name));
