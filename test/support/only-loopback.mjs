// Runs a command in a network namespace that has only a loopback device: `unshare --map-root-user --net node
// only-loopback.mjs PORTS COMMAND …`. PORTS is JSON: sockets in the file system, which lead out of it, by port.
import { spawn, spawnSync } from "node:child_process";
import { connect, createServer } from "node:net";

const [ports, command, ...args] = process.argv.slice(2);
const { status } = spawnSync("ip", ["link", "set", "lo", "up"], { stdio: "inherit" });
if (status !== 0) process.exit(1);
for (const [port, path] of Object.entries(JSON.parse(ports))) {
  const forward = (socket) => {
    const out = connect(path);
    socket.pipe(out).pipe(socket);
    socket.on("error", () => out.destroy());
    out.on("error", () => socket.destroy());
  };
  await new Promise((resolve) => createServer(forward).listen(Number(port), "127.0.0.1", resolve));
}
const child = spawn(command, args, { stdio: "inherit" });
child.on("close", (code) => process.exit(code ?? 1));
process.on("SIGTERM", () => child.kill("SIGTERM"));
