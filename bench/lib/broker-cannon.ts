/** Publishers of a broker, in a separate process as cannon.ts is for ours; prints how many events were confirmed. */
import { BROKERS as all, type BROKERS } from "./brokers.ts";
import { sampleEvent } from "./world.ts";

export interface Cannon {
  broker: keyof typeof BROKERS;
  url: string;
  topic: string;
  publishers: number;
  seconds: number;
}

const { broker, url, topic, publishers, seconds } = JSON.parse(process.argv[2] as string) as Cannon;
const connected = await Promise.all(
  Array.from({ length: publishers }, () => all[broker].publisher(url, topic)),
);
const started = performance.now();
const until = started + seconds * 1000;
let published = 0;
await Promise.all(
  connected.map(async ({ publish }, i) => {
    for (let n = 0; performance.now() < until; n++) {
      await publish(JSON.stringify(sampleEvent(`${i}-${n}`)));
      published++;
    }
  }),
);
process.stdout.write(JSON.stringify({ published, seconds: (performance.now() - started) / 1000 }));
process.exit();
