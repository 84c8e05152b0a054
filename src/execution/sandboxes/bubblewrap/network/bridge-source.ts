/**
 * The program between a sandbox's loopback and the proxy's socket. It is text because it is mounted
 * into the sandbox and run there. It starts the command and repeats its exit.
 */
export const BRIDGE_SOURCE = `
const net = require("node:net");
const { spawn } = require("node:child_process");
const { constants } = require("node:os");
const [port, socketFile, file, ...args] = process.argv.slice(2);
const env = { ...process.env };
const server = net.createServer({ allowHalfOpen: true }, (inner) => {
  const outer = net.connect({ path: socketFile, allowHalfOpen: true });
  inner.pipe(outer).pipe(inner);
  inner.on("error", () => outer.destroy());
  outer.on("error", () => inner.destroy());
});
server.listen(Number(port), "127.0.0.1", () => {
  const child = spawn(file, args, { stdio: "inherit", env });
  child.on("error", (error) => {
    console.error(error.message);
    process.exit(127);
  });
  child.on("exit", (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
});
`;
