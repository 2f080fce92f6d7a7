// The few parts of Node that the tests use.
declare module "node:test" {
  export function test(name: string, fn: () => void | Promise<void>): void;
}

declare module "node:assert/strict" {
  const assert: {
    equal(a: unknown, b: unknown, message?: string): void;
    deepEqual(a: unknown, b: unknown, message?: string): void;
    ok(a: unknown, message?: string): void;
  };
  export default assert;
}

declare module "node:fs" {
  export function readdirSync(dir: string): string[];
  export function readFileSync(path: string, encoding: "utf8"): string;
}
