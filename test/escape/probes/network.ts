/** The network: services on the machine, hosts beyond it, and the proxy in between. */
import { PUBLIC_ANSWER } from "../fake-internet.ts";
import type { Probe } from "../probe.ts";

const connectTo = (host: string, port: number) =>
  `perl -MIO::Socket::IP -e 'my $s = IO::Socket::IP->new(PeerHost => "${host}", PeerPort => ${port}, Timeout => 2) or die "answer $@\\n"; print "ESCAPED\\n"; print <$s>'`;

/** Sends raw bytes to the proxy and prints its whole answer. */
const say = (text: string, where = 'IO::Socket::INET->new(PeerAddr => "127.0.0.1:18989")') =>
  `perl -MIO::Socket -MIO::Socket::UNIX -e 'my $s = ${where} or die "answer $!\\n"; print $s "${text.replaceAll("@", "\\@")}"; $s->flush; print "answer "; print while <$s>'`;

const tunnel = (to: string) =>
  say(`CONNECT ${to} HTTP/1.1\\r\\nHost: ${to}\\r\\n\\r\\nGET / HTTP/1.0\\r\\nHost: x\\r\\n\\r\\n`);
const get = (url: string, host = "x") =>
  say(`GET ${url} HTTP/1.1\\r\\nHost: ${host}\\r\\nConnection: close\\r\\n\\r\\n`);

const offline: Probe[] = [
  {
    name: "a service on the loopback",
    script: ({ ports }) => connectTo("127.0.0.1", ports.v4),
    control: "always",
  },
  {
    name: "a service on the loopback, all zeros",
    script: ({ ports }) => connectTo("0.0.0.0", ports.v4),
    control: "always",
  },
  {
    name: "a service on the loopback of IPv6",
    script: ({ ports }) => connectTo("::1", ports.v6 ?? 1),
  },
  { name: "the metadata address", script: () => connectTo("169.254.169.254", 80) },
  { name: "a public address", script: () => connectTo("1.1.1.1", 443) },
  { name: "a name", script: () => "getent hosts example.com && echo ESCAPED" },
  {
    name: "a packet to a resolver",
    script: () =>
      `perl -MIO::Socket::INET -e 'my $s = IO::Socket::INET->new(Proto => "udp", PeerAddr => "8.8.8.8:53"); print $s && $s->send("x") ? "ESCAPED\\n" : "answer\\n"'`,
    expects: /answer/,
  },
  {
    name: "an abstract socket",
    script: ({ sockets }) =>
      `perl -MSocket -e 'socket(my $s, AF_UNIX, SOCK_STREAM, 0); connect($s, pack_sockaddr_un("\\0${sockets.abstract}")) or die "answer $!\\n"; print <$s>'`,
    control: "always",
  },
  {
    name: "a socket in a folder",
    script: ({ sockets }) =>
      `perl -MIO::Socket::UNIX -e 'my $s = IO::Socket::UNIX->new("${sockets.path}") or die "answer $!\\n"; print <$s>'`,
    control: "always",
  },
  {
    name: "sockets of the system",
    script: () =>
      "for s in /run/docker.sock /var/run/docker.sock /run/dbus /run/systemd /run/containerd /tmp/.X11-unix /run/user; do [ -e $s ] && echo ESCAPED $s; done",
  },
  {
    name: "another interface",
    script: () => "tail -n +3 /proc/net/dev | grep -v ' lo:' && echo ESCAPED",
  },
  { name: "a new interface", script: () => "ip link add probe type dummy && echo ESCAPED" },
];

const DENIED = /answer HTTP\/1\.1 (403|400|502)|answer \n/;
const denied = (name: string, script: () => string): Probe => ({
  name,
  script,
  online: true,
  expects: DENIED,
});

const online: Probe[] = [
  {
    name: "(the way that is open)",
    script: () => tunnel("allowed.test:443"),
    online: true,
    expects: new RegExp(PUBLIC_ANSWER),
  },
  {
    name: "(a host below a star)",
    script: () => get("http://fine.wild.test/"),
    online: true,
    expects: new RegExp(PUBLIC_ANSWER),
  },
  { name: "past the proxy", script: () => connectTo("93.184.216.34", 80), online: true },
  {
    name: "the loopback past the proxy",
    script: ({ ports }) => connectTo("127.0.0.1", ports.v4),
    online: true,
  },
  ...[
    ...["127.0.0.1:80", "169.254.169.254:80", "10.0.0.1:443", "2130706433:80", "0x7f000001:80"],
    ...["0177.0.0.1:80", "127.1:80", "[::1]:80", "[::ffff:127.0.0.1]:80", "[::ffff:7f00:1]:443"],
    ...["localhost:80", "other.test:443", "allowed.test.evil.test:443", "evilallowed.test:443"],
    ...[
      "wild.test:443",
      "evilwild.test:443",
      "allowed.test:22",
      "allowed.test:8080",
      "allowed.test:0",
    ],
    ...["allowed.test@127.0.0.1:80", "127.0.0.1@allowed.test:80", "allowed.test:443@127.0.0.1:80"],
    ...["allowed.test/127.0.0.1:80", "allowed.test%00.evil.test:80", "allowed.test#@127.0.0.1:80"],
    ...[
      "inside.wild.test:443",
      "metadata.wild.test:80",
      "mapped.wild.test:443",
      "mixed.wild.test:443",
    ],
  ].map((to) => denied(`a tunnel to ${to}`, () => tunnel(to))),
  ...[
    ...["http://127.0.0.1/", "http://169.254.169.254/latest/meta-data/", "http://2130706433/"],
    ...[
      "http://allowed.test@127.0.0.1/",
      "http://[::1]/",
      "http://other.test/",
      "http://allowed.test:22/",
    ],
    ...["https://allowed.test/", "file:///etc/shadow", "ftp://allowed.test/", "/", "//127.0.0.1/"],
    ...["http://inside.wild.test/", "http:\\\\\\\\127.0.0.1/"],
  ].map((url) => denied(`a request for ${url}`, () => get(url, "127.0.0.1"))),
  {
    name: "a name that is another the second time",
    script: () => `${tunnel("flips.wild.test:443")}; ${tunnel("flips.wild.test:443")}`,
    online: true,
    expects: new RegExp(`${PUBLIC_ANSWER}[\\s\\S]*403`),
  },
  {
    name: "another host in the header",
    script: () => get("http://allowed.test/", "other.test"),
    online: true,
    expects: /host=allowed\.test/,
  },
  {
    name: "a second request behind the first",
    script: () =>
      say(
        "GET http://allowed.test/ HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: 0\\r\\n\\r\\nGET http://127.0.0.1/ HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n",
      ),
    online: true,
    expects: /answer HTTP/,
  },
  denied("the proxy's own socket", () =>
    say("CONNECT 127.0.0.1:80 HTTP/1.1\\r\\n\\r\\n", 'IO::Socket::UNIX->new("/run/muster/proxy")'),
  ),
  {
    name: "another in the proxy's place",
    script: () =>
      "rm -f /run/muster/proxy && echo ESCAPED; echo x > /run/muster/bridge.cjs && echo ESCAPED",
    online: true,
  },
];

export const networkProbes: Probe[] = [...offline, ...online];
