/** The load generator, in a separate process so that its CPU is measured apart from the server's. */
import autocannon from "autocannon";

const options = JSON.parse(process.argv[2] as string) as autocannon.Options;
const before = process.cpuUsage();
const result = await autocannon(options);
const { user, system } = process.cpuUsage(before);
process.stdout.write(
  JSON.stringify({
    requests: result.requests.total,
    seconds: result.duration,
    statuses: result.statusCodeStats,
    errors: result.errors,
    p50: result.latency.p50,
    p99: result.latency.p99,
    cpu_seconds: (user + system) / 1e6,
  }),
);
