// Loaded before the server (`NODE_OPTIONS=--import`): sets the machine's clock, as its process sees it, `CLOCK_SKEW_MS`
// ahead, and on SIGUSR2 another `CLOCK_STEP_MS`. Like a clock that an administrator sets, it leaves the monotonic one be.
const own = Date.now;
let ahead = Number(process.env.CLOCK_SKEW_MS ?? 0);

Date.now = () => own() + ahead;
globalThis.Date = new Proxy(Date, {
  construct: (date, args, made) => Reflect.construct(date, args.length ? args : [Date.now()], made),
});
process.on("SIGUSR2", () => {
  ahead += Number(process.env.CLOCK_STEP_MS);
  process.stdout.write("the clock is set\n");
});
