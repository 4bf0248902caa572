import { useEffect, useState } from "react";
import type { SchedulesTestParams } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { relative } from "../../data/format.ts";
import { messageOf } from "../../ui/failure.tsx";
import "./schedules.css";

/** Wait for a pause in typing. */
const PAUSE_MS = 250;

/** The next times of what is being typed, or what is wrong with it. Nothing is saved. */
export function NextTicks({ when }: { when: SchedulesTestParams | null }) {
  const [next, setNext] = useState<string[]>([]);
  const [wrong, setWrong] = useState("");
  const asked = JSON.stringify(when);
  useEffect(() => {
    const params = JSON.parse(asked) as SchedulesTestParams | null;
    if (!params) {
      setNext([]);
      setWrong("");
      return;
    }
    const leaving = new AbortController();
    const { signal } = leaving;
    const ask = async () => {
      try {
        setNext((await api.schedules.test(params, { signal })).next);
        setWrong("");
      } catch (error) {
        if (signal.aborted) return;
        setNext([]);
        setWrong(messageOf(error));
      }
    };
    const timer = setTimeout(ask, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, [asked]);
  return (
    <div role="status" className="next-ticks">
      {wrong && <p className="field-error">{wrong}</p>}
      {next.length > 0 && <Ticks ticks={next} time_zone={when?.time_zone} />}
    </div>
  );
}

/** Times in the time zone of a schedule, or of the browser. */
export function Ticks({ ticks, time_zone }: { ticks: readonly string[]; time_zone?: string | undefined }) {
  const format = new Intl.DateTimeFormat("en", {
    ...{ weekday: "short", day: "numeric", month: "short", year: "numeric" },
    ...{ hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZoneName: "short" },
    ...(time_zone && { timeZone: time_zone }),
  });
  return (
    <ol className="ticks" aria-label="Next times">
      {ticks.map((tick) => (
        <li key={tick}>
          <time dateTime={tick} className="num">
            {format.format(new Date(tick))}
          </time>{" "}
          <span className="faint small">{relative(tick)}</span>
        </li>
      ))}
    </ol>
  );
}
