import { describe, expect, it } from "vitest";
import { factorPaint, kSeries, luminance, partPaint } from "./color";
import { csvField, csvOf } from "./csv";
import { curlOf } from "./curl";
import { fileName } from "./download";
import { carried, rollingMean, wilson } from "./statistics";

describe("CSV", () => {
  it("quotes what needs quoting", () => {
    expect(csvOf(["a", "b"], [["x,y", 'say "hi"'], [1.5, null]])).toBe('a,b\r\n"x,y","say ""hi"""\r\n1.5,\r\n');
  });
  it("disarms what a spreadsheet would run", () => {
    for (const formula of ["=1+1", "+1", "-1+2", "@SUM(A1)", "\tx"]) expect(csvField(formula).replace(/"/g, "").startsWith("'")).toBe(true);
    expect(csvField(-1)).toBe("-1");
  });
});

describe("a request for the shell", () => {
  it("survives quotes in hostile text and names the key without showing it", () => {
    const text = curlOf({ url: "http://h/v1/feedback", method: "POST", body: { correct_answer: "it's '$(rm)'" }, keyed: true });
    expect(text).toBe(
      `curl -s 'http://h/v1/feedback' -H "Authorization: Bearer $MARGIN_KEY" -H 'Content-Type: application/json' -d '{"correct_answer":"it'\\''s '\\''$(rm)'\\''"}'`,
    );
    expect(curlOf({ url: "http://h/", keyed: false })).toBe("curl -s 'http://h/'");
  });
});

describe("file names", () => {
  it("keep to letters and digits", () => {
    expect(fileName("../../etc/Passwd: x", "svg")).toBe("etc-passwd-x.svg");
    expect(fileName("漢字", "csv")).toBe("picture.csv");
  });
});

describe("statistics", () => {
  it("equal published intervals", () => {
    // Wilson's score interval at 95% of 81 in 263 (Newcombe 1998, table I): 0.2553 to 0.3662.
    const [low, high] = wilson(81 / 263, 263, 1.959963984540054);
    expect(low).toBeCloseTo(0.2553, 4);
    expect(high).toBeCloseTo(0.3662, 4);
    expect(wilson(0, 20, 1.959963984540054)[1]).toBeCloseTo(0.1611, 4);
    expect(wilson(0.5, 0)).toEqual([0, 1]);
  });
  it("roll as the plain mean over the window does", () => {
    const values = [1, null, 3, 0, 5, 2];
    const weights = [2, 0, 1, 1, 3, 1];
    const expected = values.map((_, i) => {
      let sum = 0;
      let total = 0;
      for (let k = Math.max(0, i - 2); k <= i; ++k) {
        sum += (values[k] ?? 0) * (weights[k] ?? 0);
        total += weights[k] ?? 0;
      }
      return total > 0 ? sum / total : null;
    });
    rollingMean(values, weights, 3).forEach((mean, i) => expect(mean).toBeCloseTo(expected[i] ?? NaN, 12));
    expect(carried([null, 1, null, 2])).toEqual([null, 1, 1, 2]);
  });
});

describe("colours", () => {
  const rgb = (text: string) => text.match(/\d+/g)?.map(Number) as [number, number, number];
  it("leave text readable on every cell, light and dark (WCAG AA)", () => {
    for (const dark of [false, true]) {
      const paints = [0.01, 0.25, 0.5, 0.7, 0.9, 1, 1.2, 1.6, 2, 3, 4, 20].map((f) => factorPaint(f, dark));
      paints.push(...[0, 0.2, 0.4, 0.6, 0.8, 1].flatMap((p) => [partPaint(p, dark), partPaint(p, dark, "below")]));
      for (const { fill, ink } of paints) {
        const a = luminance(rgb(fill));
        const b = ink === "#ffffff" ? 1 : 0;
        expect((Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)).toBeGreaterThanOrEqual(4.5);
      }
    }
  });
  it("tell below 1 from above 1, and are all different", () => {
    expect(factorPaint(0.5, false).fill).not.toBe(factorPaint(2, false).fill);
    expect(factorPaint(1, false).fill).toBe(partPaint(0, false).fill);
    expect(new Set(kSeries).size).toBe(kSeries.length);
  });
});
