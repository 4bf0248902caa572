import { expect, test } from "@jest/globals";
import { cronInWords } from "../../services/sense/schedules/in-words.ts";

test.each([
  ["0 9 * * MON-FRI", "weekdays at 09:00"],
  ["0 9 * * 1-5", "weekdays at 09:00"],
  ["30 2 * * *", "every day at 02:30"],
  ["0,30 9,17 * * *", "every day at 09:00, 09:30, 17:00 and 17:30"],
  ["0 8 * * sat,sun", "weekends at 08:00"],
  ["0 8 * * 7", "Sundays at 08:00"],
  ["0 8 * * 0,1,3", "Mondays, Wednesdays and Sundays at 08:00"],
  ["0 8 * * 0-6", "every day at 08:00"],
  ["0 0 1 * *", "the 1st of each month at 00:00"],
  ["0 0 1,15 * *", "the 1st and 15th of each month at 00:00"],
  ["0 12 24 DEC *", "the 24th of December at 12:00"],
  ["0 6 1 */3 *", "the 1st of January, April, July and October at 06:00"],
  ["0 6 * 7 *", "every day in July at 06:00"],
  ["* * * * *", "every minute"],
  ["*/15 * * * *", "every 15 minutes"],
  ["*/15 9-17 * * 1-5", "every 15 minutes from 09:00 to 17:59 on weekdays"],
  ["0 * * * *", "every hour"],
  ["15 * * * *", "every hour at minute 15"],
  ["0,20,40 * * * *", "every hour at minutes 0, 20 and 40"],
  ["0 */6 * * *", "every 6 hours"],
  ["30 9-17 * * *", "every hour from 09:30 to 17:30"],
  ["@daily", "every day at 00:00"],
  ["0 * 1 * *", "every hour on the 1st of each month"],
])("%s is %s", (cron, words) => expect(cronInWords(cron)).toBe(words));

test.each([
  ...["*/7 * * * *", "*/5 */2 * * *", "0 9 L * *", "0 9 13 * +FRI", "0 9 * * FRI#2", "0 9 1 * MON"],
  ...["0 9 */2 * *", "0 1,3,5,7,9 * * *", "0 9 2-9 * *", "0 9 * *", "0 0 9 * * *"],
])("%s has no words", (cron) => expect(cronInWords(cron)).toBeNull());
