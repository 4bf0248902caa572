import { operations } from "../services/contracts.ts";
import { choose, makeTools } from "../services/edge/mcp/tools.ts";

const t = makeTools(operations);
for (const c of [undefined, "sense", "remember", "work", "all", "memories"]) {
  const x = choose(t, c);
  const l = x.listed.map((e) => (x.isBrief ? e.brief : e.tool));
  console.log(c, l.length, JSON.stringify(l).length, (JSON.stringify(l).length / 4) | 0);
  if (!c) for (const e of l) console.log(JSON.stringify(e).length, JSON.stringify(e));
}
