// The reader's key: for this tab only, never in an address, never in a cookie.
const kItem = "margin-key";
let memory = "";

export function storedKey(): string {
  try {
    return sessionStorage.getItem(kItem) ?? memory;
  } catch {
    return memory;
  }
}

export function storeKey(key: string): void {
  memory = key;
  try {
    if (key === "") sessionStorage.removeItem(kItem);
    else sessionStorage.setItem(kItem, key);
  } catch {
    // A browser that keeps nothing still has it in memory.
  }
}

export function authorization(): Record<string, string> {
  const key = storedKey();
  return key === "" ? {} : { Authorization: `Bearer ${key}` };
}
