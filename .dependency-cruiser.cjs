// One rule per arrow that must not exist. `comment` is what a developer reads when it fails.
const rule = (name, comment, from, to) => ({ name, comment, severity: "error", from, to });
const WEB = ["/ui/", "^src/surfaces/web/", "^src/main/web/"];
/** Spelling out hidden characters: pure, and the same on the page and in the terminal. */
const VISIBLE_TEXT = "^src/base/text/visible-text\\.ts$";

module.exports = {
  forbidden: [
    rule(
      "no-cycles",
      "Move the shared part down a layer.",
      { pathNot: "^test/" },
      { circular: true },
    ),
    // The parts of a simulated world know each other by type; code must still have an order.
    rule(
      "no-cycles-in-tests",
      "Move the shared part into a file of its own.",
      { path: "^test/" },
      { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    ),
    rule("imports-resolve", "The file does not exist.", {}, { couldNotResolve: true }),

    // main → surfaces → channels → features → engine → base ; main → execution → base ; all → protocol
    rule(
      "base-is-the-bottom",
      "base/ knows no domain.",
      { path: "^src/base/" },
      { path: "^src/(?!base/)" },
    ),
    rule(
      "protocol-is-pure",
      "Every process loads protocol/: it imports itself, base/ids and zod.",
      { path: "^src/protocol/", pathNot: "\\.test\\.ts$" },
      {
        path: "^(src|node_modules)/",
        pathNot: ["^src/(protocol/|base/ids)", "^node_modules/zod/"],
      },
    ),
    rule(
      "engine-knows-no-feature",
      "The kernel hosts features, it never names one.",
      { path: "^src/engine/" },
      { path: "^src/(features|channels|execution|surfaces|main)/" },
    ),
    rule(
      "features-announce",
      "Publish an event; a channel listens.",
      { path: "^src/features/", pathNot: "/(ui|cli)/" },
      { path: "^src/(channels|execution|surfaces|main)/" },
    ),
    rule(
      "channels-sit-on-features",
      "A channel may use features, the engine, base and protocol.",
      { path: "^src/channels/", pathNot: "/ui/" },
      { path: "^src/(execution|surfaces|main)/" },
    ),
    rule(
      "surfaces-are-handed-features",
      "main/ passes features in.",
      { path: "^src/surfaces/(http|live|mcp|cli)/" },
      { path: "^src/(features|channels|execution|main)/", pathNot: "/contract\\.ts$" },
    ),
    rule(
      "execution-speaks-protocol",
      "The runner may be on another machine.",
      { path: "^src/execution/" },
      { path: "^src/(engine|features|channels|surfaces|main)/" },
    ),

    // front doors
    rule(
      "feature-front-door",
      "Use its index.ts or contract.ts.",
      { path: "^src/(features|channels)/([^/]+)/" },
      {
        path: "^src/(features|channels)/[^/]+/",
        pathNot: ["^src/$1/$2/", "/(index|contract)\\.ts$", "/ui/"],
      },
    ),
    rule(
      "feature-front-door-from-outside",
      "Use its index.ts or contract.ts.",
      { path: "^src/(main|surfaces)/" },
      { path: "^src/(features|channels)/[^/]+/", pathNot: ["/(index|contract)\\.ts$", "/ui/"] },
    ),
    rule(
      "engine-front-door",
      "Use engine/<part>/index.ts.",
      { path: "^src/", pathNot: "^src/engine/" },
      { path: "^src/engine/[^/]+/", pathNot: "/(index|contract)\\.ts$" },
    ),
    rule(
      "client-is-derived",
      "The client knows contracts (as types) and protocol, so that it runs anywhere.",
      { path: "^src/client/", pathNot: "\\.test\\.ts$" },
      { path: "^src/", pathNot: ["^src/client/", "/contract\\.ts$", "^src/protocol/"] },
    ),
    rule(
      "siblings-are-strangers",
      "One implementation never imports another.",
      { path: "^src/(execution/(?:runtimes|sandboxes|models)|base/bus)/([^/]+)/" },
      { path: "^src/$1/[^/]+/", pathNot: "^src/$1/$2/" },
    ),

    // commands
    rule(
      "commands-speak-http",
      "A feature's cli/ imports contracts, protocol, base, the client and the frame of the command line.",
      { path: "^src/features/[^/]+/cli/", pathNot: "\\.test\\.ts$" },
      {
        path: "^src/",
        pathNot: [
          "^src/features/[^/]+/cli/",
          "/contract\\.ts$",
          "^src/(protocol|base|client)/",
          "^src/surfaces/cli/",
        ],
      },
    ),
    rule(
      "server-never-imports-commands",
      "Commands talk to the server over HTTP.",
      { path: "^src/", pathNot: ["^src/features/[^/]+/cli/", "^src/main/"] },
      { path: "^src/features/[^/]+/cli/" },
    ),

    // browser
    rule(
      "ui-is-browser-code",
      "ui/ imports contracts, protocol, base/text/visible-text and surfaces/web/kit.",
      { path: "/ui/" },
      {
        path: "^src/",
        pathNot: [
          "/ui/",
          "/contract\\.ts$",
          "^src/protocol/",
          "^src/client/",
          "^src/surfaces/web/kit/",
          VISIBLE_TEXT,
        ],
      },
    ),
    rule(
      "web-shell-is-browser-code",
      "The shell imports features' pages, contracts, protocol, the client and base/text/visible-text.",
      { path: "^src/surfaces/web/" },
      {
        path: "^src/",
        pathNot: [
          "/ui/",
          "/contract\\.ts$",
          "^src/protocol/",
          "^src/client/",
          "^src/surfaces/web/",
          VISIBLE_TEXT,
        ],
      },
    ),
    rule(
      "page-list-is-browser-code",
      "main/web lists the pages of features and uses the shell and the kit.",
      { path: "^src/main/web/" },
      {
        path: "^src/",
        pathNot: ["/ui/", "^src/protocol/", "^src/surfaces/web/", "^src/main/web/"],
      },
    ),
    rule(
      "browser-code-has-no-node",
      "Browsers have no node: modules.",
      { path: WEB, pathNot: "\\.test\\.tsx?$" },
      { dependencyTypes: ["core"] },
    ),
    rule(
      "server-never-imports-ui",
      "Browser code stays out of the programs.",
      { path: "^src/", pathNot: WEB },
      { path: WEB },
    ),

    rule(
      "sql-lives-in-queries",
      "Only queries.ts and schema.ts touch Kysely.",
      { path: "^src/(engine|features|channels)/", pathNot: "/(queries|schema)\\.ts$" },
      { path: "node_modules/kysely" },
    ),
    rule(
      "examples-use-public-parts",
      "An example shows what users build on: protocol/, client/, the runtime contract, settings and runner.",
      { path: "^examples/" },
      {
        path: "^(src|test|scripts)/",
        pathNot: [
          "^src/protocol/",
          "^src/execution/runtimes/runtime\\.ts$",
          "^src/base/(config|log)\\.ts$",
          "^src/client/",
          "^src/main/runner/runner\\.ts$",
        ],
      },
    ),
    rule(
      "examples-stay-outside",
      "Programs never import examples.",
      { path: "^(src|scripts)/" },
      { path: "^examples/" },
    ),
    rule(
      "tests-stay-outside",
      "Programs never import tests or what tests need.",
      { path: "^src/", pathNot: "\\.(test|contract)\\.tsx?$" },
      { path: "^test/|\\.test\\.tsx?$|node_modules/(vitest|fast-check)/" },
    ),
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    tsPreCompilationDeps: true, // type-only imports count
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: {
      extensions: [".ts", ".tsx", ".js"],
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default", "types"],
    },
  },
};
