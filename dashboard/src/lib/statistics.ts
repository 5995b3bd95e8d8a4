// The few statistics that pictures need and the server does not send.

const kZ = 1.6448536269514722; // of a 90% interval

// Wilson's interval of a proportion; [0, 1] without observations.
export function wilson(part: number, n: number, z = kZ): [number, number] {
  if (n <= 0) return [0, 1];
  const z2 = z * z;
  const middle = (part + z2 / (2 * n)) / (1 + z2 / n);
  const half = (z / (1 + z2 / n)) * Math.sqrt((part * (1 - part)) / n + z2 / (4 * n * n));
  return [Math.max(0, middle - half), Math.min(1, middle + half)];
}

// Means over `width` steps up to each one, weighted; null where the weights are 0.
export function rollingMean(values: readonly (number | null)[], weights: readonly number[], width: number): (number | null)[] {
  let sum = 0;
  let total = 0;
  return values.map((value, i) => {
    const w = weights[i] ?? 0;
    sum += (value ?? 0) * w;
    total += w;
    const gone = i - width;
    if (gone >= 0) {
      sum -= (values[gone] ?? 0) * (weights[gone] ?? 0);
      total -= weights[gone] ?? 0;
    }
    return total > 0.5 ? sum / total : null;
  });
}

// The last known value goes on where there is none.
export function carried(values: readonly (number | null)[]): (number | null)[] {
  let last: number | null = null;
  return values.map((value) => (last = value ?? last));
}
