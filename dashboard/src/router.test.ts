import { describe, expect, it } from "vitest";
import { href, parseHash } from "./router";

describe("addresses", () => {
  it("come back as they were made, whatever names hold", () => {
    for (const name of ["demo", "a/b", "x?y#z", "100%", "ü 漢", "<script>"]) {
      expect(parseHash(href(["pools", name], { model: name }))).toMatchObject({ parts: ["pools", name] });
      expect(parseHash(href(["pools", name], { model: name })).query.get("model")).toBe(name);
    }
  });
  it("leave out what is empty", () => {
    expect(href(["decisions"], { pool: "a", q: "" })).toBe("#/decisions?pool=a");
  });
  it("are read even when they are malformed", () => {
    expect(parseHash("").parts).toEqual([]);
    expect(parseHash("#/pools/%zz").parts).toEqual(["pools", "%zz"]);
  });
});
