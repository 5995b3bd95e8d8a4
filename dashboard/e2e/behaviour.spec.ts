// What people do with the dashboard, end to end.
import { readFileSync } from "node:fs";
import { expect, test, type Server } from "./server";

interface Made {
  decision_id: string;
  answer: string;
}
interface FactorAnswer {
  factors: { model: string; band: number; factor: number }[];
}

const decide = (server: Server, task: string, answers: Record<string, [string, number]>, pool = "default") =>
  server.ask<Made>("/v1/decide", { pool, task_id: task, responses: Object.entries(answers).map(([model, [answer, confidence]]) => ({ model, answer, confidence })) });

test("the demo is alive within ten seconds: decisions, factors, calibration and a drift alarm", async ({ watched }) => {
  const { Server } = await import("./server");
  const server = new Server();
  try {
    await server.start("--demo");
    await watched.goto(server.page("pools/demo/alarms"));
    await expect(watched.getByRole("cell", { name: /drift/ }).first()).toBeVisible();
    await expect(watched.getByRole("cell", { name: "simulated-fading" }).first()).toBeVisible();
    await watched.goto(server.page("pools/demo"));
    await expect(watched.getByRole("application")).toBeVisible();
    await expect(watched.locator(".stat", { hasText: "ECE calibrated" })).toContainText("%");
    // Twenty decisions every tenth of a second at first: the alarm came within the first 800, so within four seconds of its own clock.
    const { alarms } = await server.ask<{ alarms: { at: number }[] }>("/v1/pools/demo/alarms");
    expect(alarms[0]?.at).toBeLessThan(800);
  } finally {
    await watched.goto("about:blank");
    await server.stop();
    server.dispose();
  }
});

test("a decision appears as it is made, without a reload", async ({ server, watched }) => {
  await decide(server, "the one", { a: ["x", 0.9], b: ["y", 0.8] });
  await watched.goto(server.page("decisions?pool=default"));
  await expect(watched.getByRole("link", { name: "the one" })).toBeVisible();
  await expect(watched.getByText("live", { exact: true })).toBeVisible();
  await decide(server, "the other", { a: ["x", 0.7], b: ["x", 0.8] });
  await expect(watched.getByRole("link", { name: "the other" })).toBeVisible();
});

test("grading a decision moves a factor, and the page says how far", async ({ server, watched }) => {
  // A plain method, whose factor falls with every error.
  await server.ask("/v1/pools/plain", { calibrator: "margin" }, "PUT");
  for (let i = 0; i < 20; ++i) {
    const made = await decide(server, `warm ${i}`, { a: ["x", 0.9], b: ["y", 0.8] }, "plain");
    await server.ask("/v1/feedback", { decision_id: made.decision_id, correct_answer: i % 2 === 0 ? "x" : "y" });
  }
  const made = await decide(server, "to grade", { a: ["x", 0.9], b: ["y", 0.8] }, "plain");
  const factorOf = async (model: string) => (await server.ask<FactorAnswer>("/v1/pools/plain/factors")).factors.find((f) => f.model === model && f.band === 2)?.factor ?? NaN;
  const before = await factorOf("a");
  await watched.goto(server.page("queue?pool=plain"));
  await watched.getByRole("link", { name: "to grade" }).click();
  await watched.getByRole("radio", { name: "y", exact: true }).check();
  await watched.getByRole("button", { name: "Teach" }).click();
  const row = watched.getByRole("table", { name: "How factors moved" }).getByRole("row", { name: /^a / });
  await expect(row).toContainText(before.toFixed(3));
  const after = await factorOf("a");
  expect(after).toBeLessThan(before);
  await expect(row).toContainText(after.toFixed(3));
  await expect(watched.locator(".page-head").getByText(/wrong|right/)).toBeVisible();
  expect((await server.ask<{ outcomes: unknown[] }>(`/v1/decisions/${made.decision_id}`)).outcomes).toHaveLength(2);
  // Another outcome takes the first one back.
  await watched.getByRole("radio", { name: "x", exact: true }).check();
  await watched.getByRole("button", { name: "Replace the outcome" }).click();
  await expect.poll(() => factorOf("a")).toBeGreaterThan(before);
});

test("a key is asked for, a wrong one refused, and a right one kept out of addresses", async ({ page, server }) => {
  await server.stop();
  const reader = server.key("on call", "read");
  const teacher = server.key("teacher", "read,feedback");
  const decider = server.key("decider", "decide");
  await server.start();
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));

  await page.goto(server.page("pools"));
  const field = page.getByLabel(/Key with the scope/);
  for (const [key, said] of [["sk-mg-nonsense", "This key is not valid here."], [decider, "This key lacks the scope read."]] as const) {
    await field.fill(key);
    await page.getByRole("button", { name: "Log in" }).click();
    await expect(page.getByRole("alert")).toHaveText(said);
  }
  await field.fill(reader);
  await page.getByRole("button", { name: "Log in" }).click();
  await expect(page.getByRole("heading", { name: "Pools" })).toBeVisible();
  await expect(page.getByText("live", { exact: true })).toBeVisible();
  await page.goto(server.page("system"));
  await expect(page.getByRole("cell", { name: "on call" })).toBeVisible();
  await page.goto(server.page("experiments"));
  await expect(page.getByText(/scope admin/)).toBeVisible();
  await page.reload();
  await expect(page.getByText(/scope admin/)).toBeVisible();
  expect(asked.filter((url) => url.includes("sk-mg"))).toEqual([]);
  expect(page.url()).not.toContain("sk-mg");
  expect(await page.context().cookies()).toEqual([]);

  await page.getByRole("button", { name: "Log out" }).click();
  await expect(field).toBeVisible();
  await page.reload();
  await expect(field).toBeVisible();
  await field.fill(teacher);
  await page.getByRole("button", { name: "Log in" }).click();
  await expect(page.getByText("teacher")).toBeVisible();
});

test("a server that goes away is noticed, and found again when it is back", async ({ page, server }) => {
  await decide(server, "before", { a: ["x", 0.9] });
  await page.goto(server.page("decisions?pool=default"));
  await expect(page.getByRole("link", { name: "before" })).toBeVisible();
  await expect(page.getByText("live", { exact: true })).toBeVisible();
  await server.stop();
  await expect(page.getByText("The connection to the server was lost")).toBeVisible();
  await expect(page.getByRole("link", { name: "before" })).toBeVisible();
  await server.start();
  await page.getByRole("button", { name: "Try now" }).click({ timeout: 5000 }).catch(() => undefined);
  await expect(page.getByText("The connection to the server was lost")).toBeHidden();
  await decide(server, "after", { a: ["x", 0.9] });
  await expect(page.getByRole("link", { name: "after" })).toBeVisible();
});

test("names and answers are hostile text and stay text", async ({ server, watched }) => {
  const evil = '<img src=x onerror="document.title=1">"\'&';
  const made = await decide(server, evil, { [evil]: [`${evil}\u202e`, 0.9], b: ["=cmd|' /C calc'!A0", 0.5] });
  await server.ask("/v1/feedback", { decision_id: made.decision_id, correct_answer: evil });
  for (const path of ["pools/default", "pools/default/models", "pools/default/pairs", "pools/default/reliability", "decisions?pool=default", `decisions/${made.decision_id}`]) {
    await watched.goto(server.page(path));
    await expect(watched.getByText("<img", { exact: false }).first()).toBeAttached();
    expect(await watched.locator("main img").count()).toBe(0);
    expect(await watched.title()).not.toBe("1");
  }
  await expect(watched.getByText("‹202e›").first()).toBeVisible();
});

test("a picture can be taken away as SVG and CSV, and has its numbers behind it", async ({ demo, watched }) => {
  await watched.goto(demo.page("pools/demo"));
  const picture = watched.getByRole("figure").filter({ hasText: "what a stated confidence is worth" });
  // Once the newcomer has joined, nobody comes or goes for minutes.
  await expect(picture.getByText("simulated-newcomer").first()).toBeAttached();
  const save = async (name: string) => {
    const [saved] = await Promise.all([watched.waitForEvent("download"), picture.getByRole("button", { name }).click()]);
    return { name: saved.suggestedFilename(), text: readFileSync(await saved.path(), "utf8") };
  };
  const svg = await save("Download Factors: what a stated confidence is worth as SVG");
  expect(svg.name).toBe("demo-factors.svg");
  expect(svg.text).toContain("simulated-boaster");
  expect(svg.text).not.toContain("var(");
  const csv = await save("Download Factors: what a stated confidence is worth as CSV");
  const lines = csv.text.trim().split("\r\n");
  expect(lines[0]).toBe("model,band,stated,factor,low,high,n,trend,present");
  const { factors } = await demo.ask<FactorAnswer>("/v1/pools/demo/factors");
  expect(lines).toHaveLength(1 + factors.length);
  await picture.getByRole("button", { name: "Table" }).click();
  await expect(picture.getByRole("row")).toHaveCount(1 + factors.length);
  // What is drawn on a canvas can be saved as vectors too.
  const chart = watched.getByRole("figure").filter({ hasText: "How factors moved" });
  const [saved] = await Promise.all([watched.waitForEvent("download"), chart.getByRole("button", { name: /as SVG/ }).click()]);
  expect(readFileSync(await saved.path(), "utf8")).toContain("<path");
});

test("everything is reached by keyboard", async ({ demo, watched }) => {
  await watched.goto(demo.page("pools/demo"));
  await expect(watched.getByRole("application")).toBeVisible();
  await watched.keyboard.press("Tab");
  await expect(watched.getByRole("link", { name: "Skip to the content" })).toBeFocused();
  await watched.keyboard.press("Enter");
  await expect(watched.getByRole("main")).toBeFocused();
  await watched.getByRole("application").focus();
  const detail = watched.locator(".heat-detail h3").first();
  const first = await detail.textContent();
  await watched.keyboard.press("ArrowDown");
  await expect(detail).not.toHaveText(first ?? "");
});

test("decisions are found by task, model, status and outcome", async ({ demo, watched }) => {
  await watched.goto(demo.page("decisions?pool=demo"));
  await watched.getByLabel("Task, answer or id").fill("simulated-77");
  await expect(watched.getByRole("link", { name: "simulated-77", exact: true })).toBeVisible();
  await expect(watched.getByRole("link", { name: "simulated-1", exact: true })).toBeHidden();
  await expect(watched).toHaveURL(/q=simulated-77/);
  await watched.getByLabel("Answered").selectOption("abstained");
  await watched.getByLabel("Task, answer or id").fill("");
  await expect(watched.getByText("abstained", { exact: true }).nth(3)).toBeVisible();
  await watched.getByLabel("Task, answer or id").fill("no such task");
  await expect(watched.getByText("Nothing matches")).toBeVisible();
  await watched.getByRole("button", { name: "Clear the search" }).click();
  await expect(watched.getByRole("link", { name: /simulated-/ }).first()).toBeVisible();
});

test("a decision is copied as a command that works", async ({ server, watched, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const made = await decide(server, "copied", { a: ["it's x", 0.9] });
  await watched.goto(server.page(`decisions/${made.decision_id}`));
  await watched.getByRole("button", { name: "Copy feedback as curl" }).click();
  const command = await watched.evaluate(() => navigator.clipboard.readText());
  const { execFileSync } = await import("node:child_process");
  expect(JSON.parse(execFileSync("sh", ["-c", command]).toString())).toMatchObject({ status: "applied", updated: ["a"] });
});

test("a log is uploaded, replayed and its report shown", async ({ server, watched }) => {
  const rows = Array.from({ length: 300 }, (_, i) => JSON.stringify({ task: `t${i >> 1}`, model: i % 2 === 0 ? "careful" : "<b>bold</b>", confidence: 0.5 + (i % 5) / 10, correct: Number(i % 3 > 0) }));
  await watched.goto(server.page("experiments"));
  await watched.getByLabel(/^Log/).setInputFiles({ name: "mine.jsonl", mimeType: "application/x-ndjson", buffer: Buffer.from(rows.join("\n")) });
  await watched.getByRole("button", { name: "Replay" }).click();
  await expect(watched.getByRole("cell", { name: "done" })).toBeVisible();
  await expect(watched.getByRole("heading", { name: "Scores by method" }).or(watched.getByText("Scores by method")).first()).toBeVisible();
  await expect(watched.getByText("<b>bold</b>").first()).toBeAttached();
  await watched.getByLabel(/^Log/).setInputFiles({ name: "bad.jsonl", mimeType: "application/x-ndjson", buffer: Buffer.from('{"task":1}\n') });
  await watched.getByRole("button", { name: "Replay" }).click();
  await expect(watched.getByRole("cell", { name: /log.jsonl:1/ })).toBeVisible();
});
