import type { Kit } from "../../../test/support/kits.ts";

export const kit: Kit = {
  access: `
demo.get                     everyone      admin              GET /v1/demo
demo.create                  everyone      admin              POST /v1/demo
demo.delete                  everyone      admin              DELETE /v1/demo
`,
  outlives: ["demo.create"],
};
