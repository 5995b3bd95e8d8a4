import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ApiError, apiUrl, getJson } from "./client";
import { EventReader, type ServerEvent } from "./event_reader";
import { pauseMs } from "./events";
import { authorization, storeKey, storedKey } from "./key";

const encode = (text: string) => new TextEncoder().encode(text);

describe("server-sent events", () => {
  it("are the same whatever pieces they come in", () => {
    const text = 'retry: 1000\n\n: alive\n\nevent: decision\ndata: {"p":"ü🙂"}\n\nevent: outcome\r\ndata: a\r\ndata: b\r\n\r\ndata: plain\n\n';
    const bytes = encode(text);
    const read = (size: number) => {
      const events: ServerEvent[] = [];
      const reader = new EventReader((event) => events.push(event));
      for (let at = 0; at < bytes.length; at += size) reader.push(bytes.slice(at, at + size));
      return events;
    };
    const whole = read(bytes.length);
    expect(whole).toEqual([
      { type: "decision", data: '{"p":"ü🙂"}' },
      { type: "outcome", data: "a\nb" },
      { type: "message", data: "plain" },
    ]);
    for (const size of [1, 2, 3, 7]) expect(read(size)).toEqual(whole);
  });
  it("are not made of what has not ended", () => {
    const events: ServerEvent[] = [];
    new EventReader((event) => events.push(event)).push(encode("event: decision\ndata: {}\n"));
    expect(events).toEqual([]);
  });
});

describe("reconnecting", () => {
  it("pauses longer each time, up to a bound", () => {
    const pauses = [0, 1, 2, 3, 10, 100].map((attempt) => pauseMs(attempt, 0));
    expect(pauses).toEqual([500, 1000, 2000, 4000, 15_000, 15_000]);
    expect(pauseMs(0, 1)).toBe(625);
  });
});

describe("the key", () => {
  beforeEach(() => storeKey(""));
  afterEach(() => storeKey(""));
  it("goes as a header and never into an address", async () => {
    storeKey("sk-mg-abc-def");
    const asked = vi.spyOn(globalThis, "fetch").mockResolvedValue(new Response("{}"));
    await getJson("/v1/pools?x=1");
    const [url, init] = asked.mock.calls[0] ?? [];
    expect(String(url)).not.toContain("sk-mg");
    expect((init?.headers as Record<string, string>).Authorization).toBe("Bearer sk-mg-abc-def");
    expect(init?.credentials).toBe("omit");
    expect(document.cookie).toBe("");
  });
  it("is forgotten", () => {
    storeKey("sk-mg-abc-def");
    storeKey("");
    expect(storedKey()).toBe("");
    expect(authorization()).toEqual({});
    expect(sessionStorage.length).toBe(0);
    expect(localStorage.length).toBe(0);
  });
});

describe("failures", () => {
  it("say what the server said, or that it was not reached", async () => {
    const fetched = vi.spyOn(globalThis, "fetch");
    fetched.mockResolvedValueOnce(new Response('{"error":{"message":"pool: no such pool","code":"not_found"}}', { status: 404 }));
    await expect(getJson("/v1/pools/x")).rejects.toMatchObject({ status: 404, code: "not_found", message: "pool: no such pool" });
    fetched.mockResolvedValueOnce(new Response("<html>bad gateway", { status: 502 }));
    await expect(getJson("/v1/pools/x")).rejects.toMatchObject({ status: 502, code: "unreadable" });
    fetched.mockRejectedValueOnce(new TypeError("network"));
    await expect(getJson("/v1/pools/x")).rejects.toBeInstanceOf(ApiError);
  });
  it("go to the server above the page, whatever prefix it has", () => {
    const base = document.createElement("base");
    base.href = "http://proxy/margin/dashboard/";
    document.head.append(base);
    expect(apiUrl("/v1/pools")).toBe("http://proxy/margin/v1/pools");
    base.remove();
  });
});
