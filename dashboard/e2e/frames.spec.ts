// The frame budget of the live charts: news may come as fast as it likes, the page draws at most about once a second, and frames stay as
// short as they are on an empty page. Both are measured in the same run, so that a slow machine is no failure.
import type { Page } from "@playwright/test";
import { expect, test } from "./server";

const kFrames = 240;

const frames = (page: Page) =>
  page.evaluate(
    (count) =>
      new Promise<number[]>((resolve) => {
        const times: number[] = [];
        const step = (now: number) => {
          times.push(now);
          if (times.length > count) resolve(times.slice(1).map((t, i) => t - (times[i] ?? t)));
          else requestAnimationFrame(step);
        };
        requestAnimationFrame(step);
      }),
    kFrames,
  );

const quantile = (values: number[], q: number) => [...values].sort((a, b) => a - b)[Math.floor(q * (values.length - 1))] ?? NaN;

test("live charts keep the frame budget under a flood of decisions", async ({ server, page }) => {
  await page.goto("about:blank");
  const idle = await frames(page);

  // Every stroke on a canvas is counted, in frames that had one.
  await page.addInitScript(() => {
    let drawn = 0;
    let last = -1;
    const stroke = CanvasRenderingContext2D.prototype.stroke;
    CanvasRenderingContext2D.prototype.stroke = function (this: CanvasRenderingContext2D, ...rest: unknown[]) {
      const now = Math.floor(performance.now() / 16);
      if (now !== last) ++drawn;
      last = now;
      Reflect.apply(stroke, this, rest);
    };
    Object.defineProperty(window, "drawnFrames", { get: () => drawn });
  });
  let flooding = true;
  const flood = async () => {
    let n = 0;
    while (flooding) {
      const { decision_id } = await server.ask<{ decision_id: string }>("/v1/decide", {
        task_id: `t${++n}`,
        responses: ["a", "b", "c", "d"].map((model, i) => ({ model, answer: "xy"[(n + i) % 2], confidence: ((n * 7 + i * 13) % 100) / 100 })),
      });
      await server.ask("/v1/feedback", { decision_id, correct_answer: "x" });
    }
    return n;
  };
  const flooded = flood();
  await page.goto(server.page("pools/default"));
  await expect(page.locator(".live-chart canvas").first()).toBeVisible();
  await page.waitForTimeout(3000);
  const drawnBefore = await page.evaluate(() => (window as unknown as { drawnFrames: number }).drawnFrames);
  const began = Date.now();
  const busy = await frames(page);
  const seconds = (Date.now() - began) / 1000;
  const drawn = (await page.evaluate(() => (window as unknown as { drawnFrames: number }).drawnFrames)) - drawnBefore;
  flooding = false;
  const decisions = await flooded;

  expect(decisions).toBeGreaterThan(50);
  expect(drawn).toBeGreaterThan(0);
  // Two queries feed three charts, each asked at most once a second; a redraw may fall into two of our slots.
  expect(drawn / seconds).toBeLessThan(8);
  expect(quantile(busy, 0.5)).toBeLessThan(1.5 * quantile(idle, 0.5));
  expect(quantile(busy, 0.95)).toBeLessThan(4 * quantile(idle, 0.95));
});
