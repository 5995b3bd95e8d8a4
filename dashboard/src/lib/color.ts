// Colours of pictures: Okabe and Ito's palette, which colour-blind readers can tell apart, and scales made from two of its hues.
export const kSeries = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#8a7a00", "#6b7280"] as const;
// Shapes and dashes tell series apart as well, for those who see no colours at all.
export const kDashes = ["", "6 3", "2 3", "8 3 2 3", "1 2", "10 4", "4 2 1 2", "3 6"] as const;

type Rgb = readonly [number, number, number];

const kBelow: Rgb = [213, 94, 0]; // overconfident: worth less than stated
const kAbove: Rgb = [0, 114, 178]; // underconfident: worth more
const kMiddleLight: Rgb = [246, 247, 249];
const kMiddleDark: Rgb = [38, 46, 56];

function mix(a: Rgb, b: Rgb, t: number): Rgb {
  const one = (i: 0 | 1 | 2) => Math.round(a[i] + (b[i] - a[i]) * t);
  return [one(0), one(1), one(2)];
}

const css = ([r, g, b]: Rgb) => `rgb(${r}, ${g}, ${b})`;

export function luminance([r, g, b]: Rgb): number {
  const linear = (c: number) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
  return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
}

export interface Paint {
  fill: string;
  ink: string; // readable on it
}

function paint(rgb: Rgb): Paint {
  // Whichever of black and white has more contrast.
  const l = luminance(rgb);
  return { fill: css(rgb), ink: 1.05 / (l + 0.05) > (l + 0.05) / 0.05 ? "#ffffff" : "#000000" };
}

// A factor: 1 has no colour, a quarter and 4 have all of it.
export function factorPaint(factor: number, dark: boolean): Paint {
  const middle = dark ? kMiddleDark : kMiddleLight;
  const away = Math.max(-1, Math.min(1, Math.log2(Math.max(factor, 1e-6)) / 2));
  return paint(mix(middle, away < 0 ? kBelow : kAbove, Math.abs(away)));
}

// A part in [0, 1]; `hue` is that of the larger end.
export function partPaint(part: number, dark: boolean, hue: "above" | "below" = "above"): Paint {
  return paint(mix(dark ? kMiddleDark : kMiddleLight, hue === "above" ? kAbove : kBelow, Math.max(0, Math.min(1, part))));
}
