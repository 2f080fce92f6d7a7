import { useState, type ReactNode } from "react";

/** Portion draws the first items of a list, and more of them on a press: a browser takes many seconds for thousands of cards. */
export function Portion<T>({ items, most, what, children }: { items: T[]; most: number; what: string; children: (shown: T[]) => ReactNode }) {
  const [count, setCount] = useState(most);
  return (
    <>
      {children(items.length > count ? items.slice(0, count) : items)}
      {items.length > count ? (
        <p className="empty short">
          <button onClick={() => setCount(count + most)} data-testid={"more-" + what}>
            Show more: {(items.length - count).toLocaleString("en-US")} left
          </button>
        </p>
      ) : null}
    </>
  );
}
