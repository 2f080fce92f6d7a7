package app

import (
	"fmt"
	"strings"
	"testing"

	"example.com/stockroom/internal/catalog"
	"example.com/stockroom/internal/stock"
)

// opening is how many of everything newApp puts on the shelf.
const opening = 100

// newApp is a program with three items, all of them on the shelf.
func newApp(t *testing.T) (*App, *strings.Builder) {
	t.Helper()
	c, err := catalog.Read(strings.NewReader("bolt-8 | carriage | 0.35 | 40\nnut-8 | hexagon | 0.08 | 90\nwasher-8 | flat | 0.02 | 10\n"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := stock.Open(strings.NewReader(""), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range c.Items() {
		if err := l.Receive(item.SKU, opening, ""); err != nil {
			t.Fatal(err)
		}
	}
	var out strings.Builder
	return &App{Catalog: c, Ledger: l, Out: &out}, &out
}

// TestCommands runs each command once, each on a program of its own.
func TestCommands(t *testing.T) {
	for _, tc := range []struct{ name, line, want string }{
		{"price", "price nut-8 100", "8.00 net, "},
		{"receive", "receive bolt-8 20", fmt.Sprintf("bolt-8: %d\n", opening+20)},
		{"ship", "ship bolt-8 20", fmt.Sprintf("bolt-8: %d\n", opening-20)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a, out := newApp(t)
			if err := a.Run(strings.Fields(tc.line)); err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(out.String(), tc.want) {
				t.Errorf("%s prints %q, want %q", tc.line, out, tc.want)
			}
		})
	}
}

func TestListHasEveryItem(t *testing.T) {
	a, out := newApp(t)
	if err := a.Run([]string{"list"}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 4 {
		t.Fatalf("list prints %d lines:\n%s", len(lines), out)
	}
	if f := strings.Fields(lines[1]); f[0] != "bolt-8" || f[2] != fmt.Sprint(opening) {
		t.Errorf("the first line is %q", lines[1])
	}
}

func TestRunRefuses(t *testing.T) {
	for _, line := range []string{"dance", "ship bolt-8", "ship ladder 1", "ship bolt-8 some", "ship bolt-8 1000000", "receive bolt-8 0"} {
		a, _ := newApp(t)
		if err := a.Run(strings.Fields(line)); err == nil {
			t.Errorf("%s was accepted", line)
		}
	}
}
