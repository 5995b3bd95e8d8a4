// Numbers, times and sizes as people read them. Everything that is shown goes through here, so that digits are the same on every page.

export const kNone = "–";

type Maybe = number | null | undefined;

const known = (x: Maybe): x is number => typeof x === "number" && Number.isFinite(x);

// 0.8234 -> "82.3%"; with few observations the digit behind the point would be pretence.
export function percent(x: Maybe, digits = 1): string {
  return known(x) ? `${(100 * x).toFixed(digits)}%` : kNone;
}

// A probability, a factor or a score: a fixed number of digits, so that columns line up.
export function decimal(x: Maybe, digits = 2): string {
  if (!known(x)) return kNone;
  const text = x.toFixed(digits);
  return Number(text) === 0 ? text.replace("-", "") : text;
}

// A difference: its sign always shows, and what rounds to nothing has none.
export function signed(x: Maybe, digits = 2): string {
  if (!known(x)) return kNone;
  const text = decimal(x, digits);
  return Number(text) > 0 ? `+${text}` : text.replace("-", "−");
}

const kGrouped = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
// 12,345; from a million on 1.23M.
export function count(x: Maybe): string {
  if (!known(x)) return kNone;
  if (Math.abs(x) >= 999_999.5) {
    const [scale, unit] = Math.abs(x) >= 999_500_000 ? [1e9, "G"] : [1e6, "M"];
    return `${(x / scale).toPrecision(3)}${unit}`;
  }
  return kGrouped.format(x);
}

// A weighted count: whole from 10 on, one digit below.
export function weight(x: Maybe): string {
  if (!known(x)) return kNone;
  return Math.abs(x) < 9.95 && !Number.isInteger(x) ? x.toFixed(1) : count(Math.round(x));
}

// A rate per minute, with the digits its size allows.
export function rate(x: Maybe): string {
  if (!known(x)) return kNone;
  return x >= 99.95 || x === 0 ? count(Math.round(x)) : x >= 9.995 ? x.toFixed(1) : x.toFixed(2);
}

export function bytes(x: Maybe): string {
  if (!known(x)) return kNone;
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  let value = x;
  while (value >= 1023.5 && unit < units.length - 1) {
    value /= 1024;
    ++unit;
  }
  return `${unit === 0 || value >= 99.5 ? value.toFixed(0) : value.toPrecision(3)} ${units[unit]}`;
}

// How long ago, in the largest unit that fits.
export function ago(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 2) return "just now";
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`;
  return `${Math.floor(seconds / 86_400)} d ago`;
}

export function duration(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const [d, h, m, s] = [Math.floor(whole / 86_400), Math.floor(whole / 3600) % 24, Math.floor(whole / 60) % 60, whole % 60];
  if (d > 0) return `${d} d ${h} h`;
  if (h > 0) return `${h} h ${m} min`;
  return m > 0 ? `${m} min ${s} s` : `${s} s`;
}

const two = (x: number) => String(x).padStart(2, "0");

// The reader's own time: of today only the hour, else with the day.
export function localTime(date: Date, now: Date): string {
  const clock = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  if (date.toDateString() === now.toDateString()) return clock;
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${clock}`;
}

export function utcTime(date: Date): string {
  return `${date.toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

// The confidences of a band, "0.67–1.00".
export function bandRange(band: number, bands: number): string {
  return `${decimal(band / bands)}–${decimal((band + 1) / bands)}`;
}

// Hostile text made harmless to look at: control characters and those that turn the direction of writing become visible.
export function visible(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, (c) => {
    const code = c.codePointAt(0) ?? 0;
    return code < 32 ? String.fromCodePoint(0x2400 + code) : `‹${code.toString(16).padStart(4, "0")}›`;
  });
}

export function shortened(text: string, length: number): string {
  const points = Array.from(visible(text));
  return points.length <= length ? points.join("") : `${points.slice(0, length - 1).join("")}…`;
}
