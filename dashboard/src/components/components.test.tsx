import { cleanup, fireEvent, render, screen, within } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";
import { ApiError } from "../api/client";
import type { HeatRow } from "../api/types";
import { chartSvg } from "../charts/live_chart";
import { heatCell, HeatMap } from "../charts/heat_map";
import { LoginPage } from "../pages/login";
import { Foreign, StatusBadge } from "./bits";
import { DataTable, sortRows } from "./data_table";
import { Loaded } from "./states";

afterEach(cleanup);

const rows = [
  { name: "b", n: 2 },
  { name: "a10", n: null },
  { name: "a2", n: 10 },
];
const columns = [
  { name: "Name", value: (r: (typeof rows)[number]) => r.name },
  { name: "Count", value: (r: (typeof rows)[number]) => r.n, number: true },
];
const names = () => screen.getAllByRole("row").slice(1).map((row) => within(row).getAllByRole("cell")[0]?.textContent);

describe("tables", () => {
  it("sort by any column, either way, with what has no value at the end", () => {
    render(<DataTable caption="t" columns={columns} rows={rows} keyOf={(r) => r.name} />);
    fireEvent.click(screen.getByRole("button", { name: "Count" }));
    expect(names()).toEqual(["a2", "b", "a10"]);
    expect(screen.getByRole("columnheader", { name: /Count/ }).getAttribute("aria-sort")).toBe("descending");
    fireEvent.click(screen.getByRole("button", { name: /Count/ }));
    expect(names()).toEqual(["b", "a2", "a10"]);
    fireEvent.click(screen.getByRole("button", { name: "Name" }));
    expect(names()).toEqual(["a2", "a10", "b"]);
  });
  it("filter by what any column holds, and say when nothing is left", () => {
    render(<DataTable caption="t" columns={columns} rows={rows} keyOf={(r) => r.name} filter="Filter" />);
    fireEvent.change(screen.getByLabelText("Filter"), { target: { value: "A1" } });
    expect(names()).toEqual(["a10"]);
    fireEvent.change(screen.getByLabelText("Filter"), { target: { value: "zzz" } });
    expect(screen.getByText("Nothing matches the filter.")).toBeTruthy();
  });
  it("do not change the rows they are given", () => {
    const given = [3, 1, 2];
    expect(sortRows(given, (x) => x, true)).toEqual([3, 2, 1]);
    expect(given).toEqual([3, 1, 2]);
  });
});

describe("foreign text", () => {
  it("is text, whatever it looks like", () => {
    const { container } = render(<Foreign text={'<img src=x onerror="alert(1)">\u202e'} length={99} />);
    expect(container.querySelector("img")).toBeNull();
    expect(container.textContent).toContain("<img");
    expect(container.textContent).toContain("‹202e›");
  });
});

describe("states", () => {
  const query = { data: undefined, error: undefined, reload: vi.fn() };
  it("say that it loads, why it failed and what to do, and keep old data when asking again fails", () => {
    const shown = (extra: object) => render(<Loaded query={{ ...query, ...extra }} what="pools">{(data: string) => <p>{data}</p>}</Loaded>);
    shown({});
    expect(screen.getByRole("status").textContent).toContain("Loading pools");
    cleanup();
    shown({ error: new ApiError(0, "unreachable", "The server cannot be reached") });
    expect(screen.getByRole("alert").textContent).toContain("margin serve");
    fireEvent.click(screen.getByRole("button", { name: "Try again" }));
    expect(query.reload).toHaveBeenCalledOnce();
    cleanup();
    shown({ data: "old", error: new ApiError(500, "x", "broken") });
    expect(screen.getByText("old")).toBeTruthy();
  });
  it("mark a status by sign and word, not by colour alone", () => {
    render(<StatusBadge status="drifting" />);
    expect(screen.getByText(/drifting/).textContent).toBe("▲ drifting");
  });
});

const heatRow = (model: string, factor: number[]): HeatRow => ({
  model, channel: "verbalized", segment: "", present: true, pinned: null, factor, n: [40, 2, 40], trend: [0.1, null, 0], effective_n: [30, 1, 30],
  low: factor.map((f) => f - 0.1), high: factor.map((f) => f + 0.1),
});

describe("the heat map", () => {
  it("reads a band of a row, and nothing beyond it", () => {
    const row = heatRow("a", [0.5, 1, 2]);
    expect(heatCell(row, 1)).toEqual({ factor: 1, n: 2, counting: 1, trend: null, low: 0.9, high: 1.1 });
    expect(heatCell(row, 3)).toBeNull();
  });
  it("shows what a factor is made of, by keyboard too, and every number in its table", async () => {
    const made = [{ model: "alpha", band: 2, channel: "verbalized", segment: "", calibrated: 0.58, factor_of: { shrinkage: 0.25 } }];
    vi.spyOn(globalThis, "fetch").mockImplementation(() => Promise.resolve(new Response(JSON.stringify({ factors: made }))));
    render(<HeatMap pool="p" rows={[heatRow("alpha", [0.5, 0.6, 0.7]), heatRow("beta", [1.5, 1.6, 1.75])]} />);
    expect(screen.getByText("0.700")).toBeTruthy();
    expect(await screen.findByText("shrinkage")).toBeTruthy();
    fireEvent.keyDown(screen.getByRole("application"), { key: "ArrowDown" });
    expect(screen.getByText("1.750")).toBeTruthy();
    fireEvent.keyDown(screen.getByRole("application"), { key: "ArrowLeft" });
    expect(screen.getByText("1.600")).toBeTruthy();
    fireEvent.click(screen.getByRole("button", { name: "Table" }));
    expect(screen.getAllByRole("row")).toHaveLength(7);
  });
});

describe("a chart for a file", () => {
  it("holds its series and no markup of foreign names", () => {
    const svg = chartSvg("T", [0, 1000, 2000], [{ label: "<script>x", color: "#0072b2", values: [0, 1, null] }], [{ time: 500, label: '"><b>', tone: "warn" }], String);
    expect(svg).not.toContain("<script");
    expect(svg).not.toContain("<b>");
    const parsed = new DOMParser().parseFromString(svg, "image/svg+xml");
    expect(parsed.querySelector("parsererror")).toBeNull();
    expect(parsed.querySelectorAll("path").length).toBeGreaterThan(2);
  });
});

describe("log-in", () => {
  it("hands over the key, trimmed, and says why one was refused", async () => {
    const onKey = vi.fn().mockResolvedValue(undefined);
    render(<LoginPage message="This key is not valid here." onKey={onKey} />);
    expect(screen.getByRole("alert").textContent).toBe("This key is not valid here.");
    fireEvent.change(screen.getByLabelText(/Key with the scope/), { target: { value: "  sk-mg-x  " } });
    fireEvent.click(screen.getByRole("button", { name: "Log in" }));
    expect(onKey).toHaveBeenCalledWith("sk-mg-x");
    expect((screen.getByLabelText(/Key with the scope/) as HTMLInputElement).type).toBe("password");
    await screen.findByRole("button", { name: "Log in" });
  });
});
