package catalog

import (
	"errors"
	"strings"
	"testing"
)

const sample = `
# SKU  | name        | price | reorder at
nut-8  | hexagon nut | 0.08  | 200
bolt-8 | carriage    | 0.35  | 80
`

func TestRead(t *testing.T) {
	c, err := Read(strings.NewReader(sample))
	if err != nil {
		t.Fatal(err)
	}
	item, err := c.Find("bolt-8")
	if err != nil {
		t.Fatal(err)
	}
	if want := (Item{SKU: "bolt-8", Name: "carriage", Cents: 35, ReorderAt: 80}); item != want {
		t.Errorf("Find = %+v, want %+v", item, want)
	}
	var skus []string
	for _, item := range c.Items() {
		skus = append(skus, item.SKU)
	}
	if got := strings.Join(skus, " "); got != "bolt-8 nut-8" {
		t.Errorf("Items are %s", got)
	}
	if _, err := c.Find("ladder"); !errors.Is(err, ErrUnknown) {
		t.Errorf("Find of what is not there: %v", err)
	}
}

func TestReadRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"too few fields":   "bolt-8 | carriage | 0.35",
		"no SKU":           " | carriage | 0.35 | 1",
		"SKU of two words": "bolt 8 | carriage | 0.35 | 1",
		"a bad price":      "bolt-8 | carriage | cheap | 1",
		"a bad quantity":   "bolt-8 | carriage | 0.35 | -1",
		"the same twice":   "bolt-8 | a | 1 | 1\nbolt-8 | b | 1 | 1",
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), "line") {
				t.Errorf("Read: %v, want an error that names the line", err)
			}
		})
	}
}
