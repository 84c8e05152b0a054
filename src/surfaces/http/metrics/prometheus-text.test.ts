import { expect, it } from "vitest";
import { prometheusText } from "./prometheus-text.ts";

it("writes families one after another", () => {
  const text = prometheusText([
    { name: "a_total", help: "A", type: "counter", samples: [{ labels: { x: "1" }, value: 2 }] },
    {
      name: "b",
      help: "B",
      type: "histogram",
      samples: [
        { suffix: "_bucket", labels: { le: "+Inf" }, value: 1 },
        { suffix: "_sum", value: 0.5 },
      ],
    },
  ]);
  expect(text).toBe(
    '# HELP a_total A\n# TYPE a_total counter\na_total{x="1"} 2\n# HELP b B\n# TYPE b histogram\nb_bucket{le="+Inf"} 1\nb_sum 0.5\n',
  );
});

it("lets no label value end its line or its quotes", () => {
  const name = 'box"} 1\nmuster_forged 9\r\u0085\\';
  const text = prometheusText([
    { name: "g", help: "G", type: "gauge", samples: [{ labels: { name }, value: 1 }] },
  ]);
  expect(text.split("\n")).toHaveLength(4);
  expect(text).toContain('g{name="box\\"} 1\\nmuster_forged 9  \\\\"} 1\n');
});
