import type { Kit } from "../../../test/support/kits.ts";

export const kit: Kit = {
  access: `
approvals.open_link          public        -                  POST /v1/approval-links:open
approvals.answer_link        public        -                  POST /v1/approval-links:answer
`,
};
