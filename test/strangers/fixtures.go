package strangers

// fixtures are the projects in test/fixtures, each with a change that needs
// its own dependencies or its own test runner. They are ours.
var fixtures = []Stranger{
	{
		Name: "node-workspaces", From: Fixture{Folder: "node-workspaces"}, Kind: "npm workspaces, node:test", Short: true,
		Change: []File{
			{"packages/titles/src/outline.js", `import { anchors } from './index.js';

/** outline is a list of links to titles, as Markdown. */
export function outline(titles) {
  const ids = anchors(titles);
  return titles.map((title, i) => ` + "`- [${title}](#${ids[i]})`" + `).join('\n');
}
`},
			{"packages/titles/test/outline.test.js", `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outline } from '../src/outline.js';

test('every title has its link', () => {
  assert.equal(outline(['One', 'One']), '- [One](#one)\n- [One](#one-1)');
});
`},
		},
		Check: "node --test packages/titles/test/outline.test.js",
	},
	{
		Name: "node-vitest", From: Fixture{Folder: "node-vitest"}, Kind: "vitest",
		Change: []File{
			{"src/format.js", `/** format writes milliseconds as parse reads them, the largest unit first. */
export function format(ms) {
  let out = '';
  for (const [unit, size] of [['d', 86_400_000], ['h', 3_600_000], ['m', 60_000], ['s', 1000], ['ms', 1]]) {
    const n = Math.floor(ms / size);
    if (n > 0) out += n + unit;
    ms -= n * size;
  }
  return out || '0ms';
}
`},
			{"test/format.test.js", `import { expect, it } from 'vitest';
import { format } from '../src/format.js';
import { parse } from '../src/index.js';

it.each([0, 5, 90_061_001])('is read back: %i', (ms) => {
  expect(parse(format(ms))).toBe(ms);
});
`},
		},
		Check: "npx --no-install vitest run test/format.test.js",
	},
	{
		Name: "node-jest", From: Fixture{Folder: "node-jest"}, Kind: "jest",
		Change: []File{
			{"lib/money.js", `'use strict';

/** money writes cents for people. */
function money(cents) {
  return ` + "`${cents < 0 ? '-' : ''}${(Math.abs(cents) / 100).toFixed(2)}`" + `;
}

module.exports = { money };
`},
			{"__tests__/money.test.js", `const { money } = require('../lib/money');

test.each([[599, '5.99'], [-5, '-0.05']])('%i', (cents, want) => {
  expect(money(cents)).toBe(want);
});
`},
		},
		Check: "npx --no-install jest --ci __tests__/money.test.js",
	},
	{
		Name: "node-pnpm", From: Fixture{Folder: "node-pnpm"}, Kind: "pnpm workspace, vitest",
		Change: []File{
			{"packages/recipes/src/scale.js", `/** scale is a recipe for another number of people. */
export function scale(recipe, factor) {
  return { ...recipe, ingredients: recipe.ingredients.map(({ what, grams }) => ({ what, grams: grams * factor })) };
}
`},
			{"packages/recipes/test/scale.test.js", `import { expect, it } from 'vitest';
import { read } from '../src/index.js';
import { scale } from '../src/scale.js';

it('scales every ingredient', () => {
  const bread = read('name: bread\ningredients:\n- {what: flour, amount: 500, unit: g}\n');
  expect(scale(bread, 2).ingredients).toEqual([{ what: 'flour', grams: 1000 }]);
});
`},
		},
		Check: "pnpm exec vitest run packages/recipes/test/scale.test.js",
	},
	{
		Name: "python-pytest", From: Fixture{Folder: "python-pytest"}, Kind: "pytest", Short: true,
		Change: []File{
			{"src/ledgerlines/report.py", `"""Balances for people."""

from decimal import Decimal


def report(sums: dict[str, Decimal]) -> str:
    """One line an account, in order of their names."""
    return "\n".join(f"{name:<10}{amount:>10.2f}" for name, amount in sorted(sums.items()))
`},
			{"tests/test_report.py", `from ledgerlines import balance, read
from ledgerlines.report import report


def test_report():
    assert report(balance(read("rent 800\nfood 7.5\n"))) == "food            7.50\nrent          800.00"
`},
		},
		Check: "python3 -m pytest -q tests/test_report.py",
	},
	{
		Name: "rust-cargo", From: Fixture{Folder: "rust-cargo"}, Kind: "cargo",
		Change: []File{
			{"tests/order.rs", `use rangeset::RangeSet;

#[test]
fn the_order_of_adding_does_not_matter() {
    let mut a = RangeSet::new();
    let mut b = RangeSet::new();
    for (low, high) in [(1, 2), (5, 9), (3, 3)] {
        a.add(low, high);
    }
    for (low, high) in [(3, 3), (5, 9), (1, 2)] {
        b.add(low, high);
    }
    assert_eq!(a, b);
}
`},
			{"CHANGES.md", "# Changes\n\n- A test that the order of adding does not matter.\n"},
		},
		Check: "cargo test --offline --test order",
	},
	{
		Name: "go-and-node", From: Fixture{Folder: "go-and-node"}, Kind: "Go and Node in one repository",
		Change: []File{
			{"api/lines.go", `package api

import "slices"

// Lines are the lines that depart, each once, in order of their names.
func Lines(all []Departure) []string {
	var out []string
	for _, d := range all {
		out = append(out, d.Line)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
`},
			{"api/lines_test.go", `package api

import (
	"slices"
	"testing"
)

func TestLines(t *testing.T) {
	got := Lines([]Departure{{Line: "S2"}, {Line: "S1"}, {Line: "S2"}})
	if !slices.Equal(got, []string{"S1", "S2"}) {
		t.Error(got)
	}
}
`},
			{"web/src/board.js", `import { row } from './row.js';

/** board is the departures as a table. */
export function board(departures) {
  return ` + "`<table>${departures.map(row).join('')}</table>`" + `;
}
`},
			{"web/test/board.test.js", `import assert from 'node:assert/strict';
import test from 'node:test';
import { board } from '../src/board.js';

test('one row a departure', () => {
  const departure = { line: 'S1', to: 'Mill', at: '2026-05-04T12:01:00Z' };
  assert.equal(board([departure, departure]).split('<tr>').length, 3);
});
`},
		},
		Check: "(cd api && go test -run '^TestLines$' .) && (cd web && node --test test/board.test.js)",
	},
}

// listFixtures are the fixtures of this repository.
func listFixtures(root string) []Stranger {
	var out []Stranger
	for _, s := range fixtures {
		f, _ := s.From.(Fixture)
		s.From = Fixture{Root: root, Folder: f.Folder}
		out = append(out, s)
	}
	return out
}
