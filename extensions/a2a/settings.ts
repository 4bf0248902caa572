import { integer } from "../../lib/settings.ts";

export const SETTINGS = {
  A2A_TASK_RETENTION_DAYS: integer(
    90,
    "Days for which A2A tasks and their push notification configurations are kept after the task became final; 0: until they are erased.",
    0,
    36500,
  ),
};
