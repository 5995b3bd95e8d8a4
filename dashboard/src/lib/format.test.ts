import { describe, expect, it } from "vitest";
import { ago, bandRange, bytes, count, decimal, duration, kNone, localTime, percent, rate, shortened, signed, utcTime, visible, weight } from "./format";

describe("numbers", () => {
  it("have the digits their size allows", () => {
    expect(percent(0.8234)).toBe("82.3%");
    expect(percent(0.8234, 0)).toBe("82%");
    expect(decimal(0.5)).toBe("0.50");
    expect(decimal(-0.0001)).toBe("0.00");
    expect(count(12_345)).toBe("12,345");
    expect(count(999_999)).toBe("999,999");
    expect(count(1_234_567)).toBe("1.23M");
    expect(count(999_999_999)).toBe("1.00G");
    expect(weight(3.25)).toBe("3.3");
    expect(weight(3)).toBe("3");
    expect(weight(1234.5)).toBe("1,235");
    expect(rate(0)).toBe("0");
    expect(rate(0.5)).toBe("0.50");
    expect(rate(12.34)).toBe("12.3");
    expect(rate(594.7)).toBe("595");
  });
  it("show the sign of a difference, and none of what rounds to nothing", () => {
    expect(signed(0.126)).toBe("+0.13");
    expect(signed(-0.126)).toBe("−0.13");
    expect(signed(-0.001)).toBe("0.00");
  });
  it("are a dash when they are not there, never NaN or null", () => {
    for (const shown of [percent, decimal, signed, count, weight, rate, bytes]) {
      for (const nothing of [null, undefined, NaN, Infinity]) expect(shown(nothing)).toBe(kNone);
    }
  });
  it("count bytes in powers of 1024", () => {
    expect(bytes(0)).toBe("0 B");
    expect(bytes(1023)).toBe("1023 B");
    expect(bytes(1024)).toBe("1.00 KiB");
    expect(bytes(32 * 1024 * 1024)).toBe("32.0 MiB");
    expect(bytes(1024 ** 3 * 500)).toBe("500 GiB");
  });
  it("name the confidences of a band", () => {
    expect(bandRange(2, 3)).toBe("0.67–1.00");
  });
});

describe("times", () => {
  it("are the reader's own, with the day when it is not today", () => {
    const now = new Date(2026, 4, 17, 12, 0, 0);
    expect(localTime(new Date(2026, 4, 17, 9, 5, 7), now)).toBe("09:05:07");
    expect(localTime(new Date(2026, 4, 16, 9, 5, 7), now)).toBe("2026-05-16 09:05:07");
    expect(utcTime(new Date(Date.UTC(2026, 4, 16, 9, 5, 7)))).toBe("2026-05-16 09:05:07 UTC");
  });
  it("say how long ago in the largest unit", () => {
    expect(ago(-500)).toBe("just now");
    expect(ago(59_000)).toBe("59 s ago");
    expect(ago(61_000)).toBe("1 min ago");
    expect(ago(7_300_000)).toBe("2 h ago");
    expect(ago(200_000_000)).toBe("2 d ago");
    expect(duration(3_725)).toBe("1 h 2 min");
    expect(duration(59)).toBe("59 s");
  });
});

describe("hostile text", () => {
  it("cannot hide or turn around what is shown", () => {
    expect(visible("a\u0000b\nc")).toBe("a␀b␊c");
    expect(visible("safe\u202eelif.exe")).toBe("safe‹202e›elif.exe");
    expect(visible("zero\u200bwidth")).toBe("zero‹200b›width");
    expect(visible("naïve 漢字 🙂")).toBe("naïve 漢字 🙂");
  });
  it("is shortened by characters, not in the middle of one", () => {
    expect(shortened("🙂🙂🙂🙂", 3)).toBe("🙂🙂…");
    expect(shortened("short", 10)).toBe("short");
  });
});
