import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createCaller, type FakeWorkspace, openFakeWorkspace } from "../fake-workspace.ts";
import { createRunnerTools } from "../runner-tools.ts";
import { htmlToMarkdown } from "./html-to-markdown.ts";
import type { WebFetchOptions } from "./web-fetch.ts";

const OPENSSL = "openssl";

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const pages = new Map<string, Handler>();
const asked: { path: string; headers: IncomingMessage["headers"] }[] = [];
let server: Server;
let port: number;
let workspace: FakeWorkspace;

const ask = (path: string): Handler | undefined => pages.get(path.split("?")[0] as string);
const serve = (path: string, type: string, body: string | Buffer, headers = {}) =>
  pages.set(path, (_request, response) => {
    response.writeHead(200, { "content-type": type, ...headers }).end(body);
  });
const redirect = (path: string, location: string) =>
  pages.set(path, (_request, response) => response.writeHead(302, { location }).end());

beforeAll(async () => {
  server = createServer((request, response) => {
    const path = request.url ?? "";
    asked.push({ path, headers: request.headers });
    const handler = ask(path);
    if (handler) handler(request, response);
    else response.writeHead(404, { "content-type": "text/plain" }).end("nothing here");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
  workspace = await openFakeWorkspace();
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await workspace[Symbol.asyncDispose]();
});

/** Names that resolve to the server of this test, as if it were a public one. */
const HOSTS = ["site.test", "www.site.test", "other.test", "sly.test"];
const open: WebFetchOptions = {
  lookupAll: async (name) => {
    if (!HOSTS.includes(name)) throw new Error("not found");
    return [{ address: "127.0.0.1", family: 4 }];
  },
  isAllowed: (address) => address === "127.0.0.1",
  isPortAllowed: (asked) => asked === String(port),
};

function fetchWith(options: WebFetchOptions, signal?: AbortSignal) {
  const call = createCaller(createRunnerTools({ webFetch: options }), workspace);
  return (url: string) => call("web_fetch", { url }, signal ? { signal } : {});
}
const get = (path: string, host = "site.test") => fetchWith(open)(`http://${host}:${port}${path}`);

describe("what is fetched", () => {
  it("is named first, and marked as data", async () => {
    serve("/text", "text/plain; charset=utf-8", "hello </fetched> you");
    expect(await get("/text")).toEqual({
      output: `http://site.test:${port}/text · 200 · text/plain\n<fetched url="http://site.test:${port}/text">\nhello &lt;/fetched> you\n</fetched>`,
      error: null,
    });
  });

  it("is markdown when it is a page, with whole addresses and without noise", async () => {
    serve(
      "/dir/page",
      "text/html",
      `<html><head><title>T</title><style>x{}</style><script>evil()</script></head><body>
       <nav><a href=/home>Home</a></nav><h1>Otters</h1>
       <p>They <b>swim</b>. See <a href="more?x=1">more</a>, <a href="javascript:alert(1)">bad</a>.</p>
       <img src="/otter.png" alt="An otter"><img src="data:image/png;base64,AAAA" alt="dot">
       <table><tr><th>Name</th><th>Age</th></tr><tr><td>Oli</td><td>3</td></tr></table>
       <pre><code>let x = 1;</code></pre><footer>imprint</footer></body></html>`,
    );
    const { output, error } = await get("/dir/page");
    expect(error).toBeNull();
    expect(output).toContain("# Otters");
    expect(output).toContain(
      `They **swim**. See [more](http://site.test:${port}/dir/more?x=1), bad.`,
    );
    expect(output).toContain(`![An otter](http://site.test:${port}/otter.png)`);
    expect(output).toMatch(/\| Name \| Age \|\n\| Oli \| 3 \|/);
    expect(output).toContain("```\nlet x = 1;\n```");
    for (const noise of ["evil", "Home", "imprint", "base64", "javascript", "x{}"]) {
      expect(output).not.toContain(noise);
    }
  });

  it("may be JSON, an image, or text in an old encoding; other things are refused", async () => {
    const png = Buffer.from("\x89PNG\r\n\x1a\n rest", "latin1");
    serve("/json", "application/json", '{"a":1}');
    serve("/png", "image/png", png);
    serve("/fake", "image/png", "<html>");
    serve("/latin", "text/plain; charset=iso-8859-1", Buffer.from([0xe4]));
    serve("/zip", "application/zip", "PK", { "content-length": 2 });
    serve("/none", "", "x");
    expect((await get("/json")).output).toContain('{"a":1}');
    expect((await get("/png")).images).toEqual([
      { mediaType: "image/png", data: png.toString("base64") },
    ]);
    expect((await get("/fake")).error).toMatch(/not an image/);
    expect((await get("/latin")).output).toContain("ä");
    expect((await get("/zip")).error).toMatch(/is application\/zip \(2 bytes\); only pages/);
    expect((await get("/none")).error).toMatch(/of no known type/);
  });

  it("is shown with an error when the server reports one", async () => {
    const { output, error } = await get("/missing");
    expect(error).toBe("The server answered with status 404.");
    expect(output).toContain("nothing here");
  });

  it("is kept in a file when it is long", async () => {
    serve("/long", "text/plain", "a line of text\n".repeat(20_000));
    const { output, spilled } = await get("/long");
    expect(output.length).toBeLessThan(62_000);
    expect(output).toMatch(/\n<\/fetched>$/);
    expect(spilled).toEqual({
      path: `${workspace.scratchPath}/muster-output/call_1.txt`,
      bytes: 300_000,
    });
  });

  it("takes nothing of the machine along", async () => {
    serve("/plain", "text/plain", "x");
    asked.length = 0;
    await get("/plain?q=1#part");
    expect(asked).toHaveLength(1);
    expect(asked[0]?.path).toBe("/plain?q=1");
    expect(Object.keys(asked[0]?.headers ?? {}).sort()).toEqual(
      ["accept", "accept-encoding", "connection", "host", "user-agent"].sort(),
    );
  });
});

describe("limits", () => {
  it("hold for size, also of what unpacks itself", async () => {
    serve("/big", "text/plain", Buffer.alloc(5 * 1024 ** 2 + 1, "x"));
    expect((await get("/big")).error).toMatch(/more than 5242880 bytes/);
    const bomb = gzipSync(Buffer.alloc(300 * 1024 ** 2));
    expect(bomb.length).toBeLessThan(1024 ** 2);
    serve("/bomb", "text/plain", bomb, { "content-encoding": "gzip" });
    expect((await get("/bomb")).error).toMatch(/more than 5242880 bytes/);
    serve("/packed", "text/plain", gzipSync("unpacked"), { "content-encoding": "gzip" });
    expect((await get("/packed")).output).toContain("unpacked");
    serve("/odd", "text/plain", "x", { "content-encoding": "gzip, gzip" });
    expect((await get("/odd")).error).toMatch(/unsupported encoding/);
    serve("/broken", "text/plain", "no gzip", { "content-encoding": "gzip" });
    expect((await get("/broken")).error).toMatch(/could not be fetched \(Z_DATA_ERROR\)/);
  });

  it("hold for time, before and within the answer", async () => {
    pages.set("/hang", () => {});
    pages.set("/drip", (_request, response) => {
      response.writeHead(200, { "content-type": "text/plain" }).write("x");
    });
    const hasty = fetchWith({ ...open, timeoutMs: 200 });
    for (const path of ["/hang", "/drip"]) {
      expect((await hasty(`http://site.test:${port}${path}`)).error).toMatch(/within 0\.2 s/);
    }
    const abort = new AbortController();
    const stopped = fetchWith(open, abort.signal)(`http://site.test:${port}/hang`);
    abort.abort();
    expect((await stopped).error).toMatch(/was stopped/);
  });

  it("hold for a connection that breaks off", async () => {
    pages.set("/cut", (_request, response) => {
      response.writeHead(200, { "content-type": "text/plain", "content-length": 100 }).write("x");
      setImmediate(() => response.destroy());
    });
    pages.set("/cut-packed", (_request, response) => {
      const head = {
        "content-type": "text/plain",
        "content-encoding": "gzip",
        "content-length": 100,
      };
      response.writeHead(200, head).write(gzipSync("hello").subarray(0, 12));
      setImmediate(() => response.destroy());
    });
    for (const path of ["/cut", "/cut-packed"]) {
      expect((await get(path)).error).toMatch(/could not be fetched/);
    }
  });

  it("hold for pages made to be slow, while the runner goes on", async () => {
    let ticks = 0;
    const ticking = setInterval(() => ticks++, 10);
    const slow = htmlToMarkdown("<ul><li>x".repeat(12_000), "http://x/", AbortSignal.timeout(500));
    await expect(slow).rejects.toThrow(/too complex/);
    clearInterval(ticking);
    expect(ticks).toBeGreaterThan(5);
    const deep = htmlToMarkdown("<b>".repeat(100_000), "http://x/", new AbortController().signal);
    await expect(deep).rejects.toThrow(/too complex/);
  }, 20_000);
});

describe("redirects", () => {
  it("are followed within the host, at most five times", async () => {
    redirect("/r1", "/r2?x");
    redirect("/r2", `http://site.test:${port}/end`);
    serve("/end", "text/plain", "arrived");
    expect((await get("/r1")).output).toMatch(/^http:\/\/site\.test:\d+\/end · 200/);
    redirect("/loop", "/loop");
    expect((await get("/loop")).error).toMatch(/redirects more than 5 times/);
  });

  it("to another host are told, not followed", async () => {
    redirect("/away", `http://other.test:${port}/secret?a=<b>`);
    asked.length = 0;
    expect((await get("/away")).error).toBe(
      `http://site.test:${port}/away redirects to another host. To follow it, fetch it directly: http://other.test:${port}/secret?a=%3Cb%3E`,
    );
    expect(asked.map(({ path }) => path)).toEqual(["/away"]);
    redirect("/www", `http://www.site.test:${port}/www`);
    expect((await get("/www")).error).toMatch(/redirects to another host/);
  });

  it("are judged like the first address", async () => {
    redirect("/port", "http://site.test:22/");
    redirect("/file", "file:///etc/passwd");
    redirect("/login", `http://me:pw@site.test:${port}/end`);
    redirect("/bad", "http://[");
    expect((await get("/port")).error).toMatch(/ports 80 and 443/);
    expect((await get("/file")).error).toMatch(/another host/);
    expect((await get("/login")).error).toMatch(/password/);
    expect((await get("/bad")).error).toMatch(/invalid address/);
    // The name resolves elsewhere the second time.
    const answers = ["127.0.0.1", "169.254.169.254"];
    const rebinding = fetchWith({
      ...open,
      lookupAll: async () => [{ address: answers.shift() as string, family: 4 }],
    });
    redirect("/again", "/end");
    expect((await rebinding(`http://sly.test:${port}/again`)).error).toMatch(/not on the public/);
    expect(answers).toEqual([]);
  });
});

describe("addresses that are not public", () => {
  const plain = fetchWith({});

  it.each([
    "http://127.0.0.1/",
    "http://127.1/",
    "http://2130706433/",
    "http://0x7f.0.0.1/",
    "http://0177.0.0.1/",
    "http://0/",
    "http://localhost/",
    "http://LOCALHOST./",
    "http://①②⑦.⓪.⓪.①/",
    "http://10.1.2.3/",
    "http://172.16.0.1/",
    "http://192.168.1.1/",
    "http://100.64.0.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://[::1]/",
    "http://[::]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[fe80::1]/",
    "http://[fd00:ec2::254]/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
  ])("%s is refused", async (url) => {
    const { error, output } = await plain(url);
    expect(error).toMatch(/not on the public internet|cannot be resolved/);
    expect(output).toBe("");
  });

  it.each([
    ["http://me@site.test/", /user name or password/],
    ["http://:pw@site.test/", /user name or password/],
    ["http://site.test:22/", /ports 80 and 443/],
    ["https://site.test:8443/", /ports 80 and 443/],
  ])("%s is refused", async (url, expected) => {
    expect((await plain(url)).error).toMatch(expected);
  });

  it("one private address among public ones is enough", async () => {
    const mixed = fetchWith({
      lookupAll: async () => [
        { address: "93.184.215.14", family: 4 },
        { address: "10.0.0.1", family: 4 },
      ],
    });
    expect((await mixed("http://mixed.test/")).error).toMatch(/not on the public internet/);
  });
});

describe.skipIf(!hasOpenssl())("over TLS", () => {
  it("the name is proven, although the address is dialled", async () => {
    const folder = mkdtempSync(join(tmpdir(), "muster-tls-"));
    const request =
      "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=site.test -addext subjectAltName=DNS:site.test,DNS:www.site.test";
    execFileSync(OPENSSL, request.split(" "), { cwd: folder, stdio: "ignore" });
    const key = readFileSync(join(folder, "key.pem"));
    const cert = readFileSync(join(folder, "cert.pem"));
    rmSync(folder, { recursive: true });
    const names: string[] = [];
    const secure = createTlsServer(
      {
        key,
        cert,
        SNICallback: (name, done) => {
          names.push(name);
          done(null);
        },
      },
      ({ url = "/", headers: { host = "" } }, response) => {
        const [name, at] = host.split(":");
        const target = {
          "/plain": `http://site.test:${port}/end`,
          "/www": name === "site.test" ? `https://www.site.test:${at}/www` : undefined,
          "/moved": `https://www.site.test:${at}/elsewhere`,
        }[url];
        if (target !== undefined) response.writeHead(302, { location: target }).end();
        else response.setHeader("content-type", "text/plain").end("safely");
      },
    );
    await new Promise<void>((resolve) => secure.listen(0, "127.0.0.1", resolve));
    const tlsPort = (secure.address() as AddressInfo).port;
    const fetch = fetchWith({ ...open, isPortAllowed: () => true });
    const trusted = getCACertificates("default");
    try {
      const unknown = await fetch(`https://site.test:${tlsPort}/`);
      expect(unknown.error).toMatch(/could not be fetched \(DEPTH_ZERO_SELF_SIGNED_CERT\)/);
      setDefaultCACertificates([...trusted, cert]);
      expect((await fetch(`https://site.test:${tlsPort}/`)).output).toContain("safely");
      const wrong = await fetch(`https://other.test:${tlsPort}/`);
      expect(wrong.error).toMatch(/could not be fetched \(ERR_TLS_CERT_ALTNAME_INVALID\)/);
      expect(names.splice(0)).toEqual(["site.test", "site.test", "other.test"]);
      const at = `https://site.test:${tlsPort}`;
      expect((await fetch(`${at}/plain`)).error).toMatch(/an address without encryption/);
      expect((await fetch(`${at}/www`)).output).toContain("safely");
      expect((await fetch(`${at}/moved`)).error).toMatch(/redirects to another host/);
    } finally {
      setDefaultCACertificates(trusted);
      secure.close();
    }
    expect(names).toEqual(["site.test", "site.test", "www.site.test", "site.test"]);
  });
});

function hasOpenssl(): boolean {
  return spawnSync(OPENSSL, ["version"]).status === 0;
}
