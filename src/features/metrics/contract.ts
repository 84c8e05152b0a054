/** A metric family in Prometheus's sense: one name with its samples. */
export interface MetricFamily {
  name: string;
  help: string;
  type: "counter" | "gauge" | "histogram";
  samples: readonly Sample[];
}

export interface Sample {
  /** Suffix for the parts of a histogram. */
  suffix?: "_bucket" | "_sum" | "_count";
  labels?: Readonly<Record<string, string>>;
  value: number;
}
