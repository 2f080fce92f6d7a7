// Package catalog knows what is kept: the items, their prices, and when more
// of them should be ordered. How many there are is the stock's business.
package catalog

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"example.com/stockroom/internal/money"
)

// Item is one thing that is kept.
type Item struct {
	SKU       string
	Name      string
	Cents     int64 // net price of one piece
	ReorderAt int   // fewer than this call for an order
}

// Catalog finds items by their SKU.
type Catalog struct {
	bySKU map[string]Item
}

// ErrUnknown is wrapped by errors about a SKU that nobody has heard of.
var ErrUnknown = errors.New("not in the catalogue")

// Read reads one item a line: SKU | name | price | reorder at. Empty lines and
// lines that begin with # are skipped.
func Read(r io.Reader) (*Catalog, error) {
	c := &Catalog{bySKU: map[string]Item{}}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		item, err := parse(line)
		if err != nil {
			return nil, fmt.Errorf("catalogue, line %d: %w", n, err)
		}
		if _, twice := c.bySKU[item.SKU]; twice {
			return nil, fmt.Errorf("catalogue, line %d: %s is there already", n, item.SKU)
		}
		c.bySKU[item.SKU] = item
	}
	return c, lines.Err()
}

func parse(line string) (Item, error) {
	fields := strings.Split(line, "|")
	if len(fields) != 4 {
		return Item{}, fmt.Errorf("%d fields, not 4: SKU | name | price | reorder at", len(fields))
	}
	for i := range fields {
		fields[i] = strings.TrimSpace(fields[i])
	}
	if fields[0] == "" || strings.ContainsAny(fields[0], " \t") {
		return Item{}, fmt.Errorf("%q is no SKU: one word", fields[0])
	}
	cents, err := money.Parse(fields[2])
	if err != nil {
		return Item{}, err
	}
	at, err := strconv.Atoi(fields[3])
	if err != nil || at < 0 {
		return Item{}, fmt.Errorf("%q is no quantity", fields[3])
	}
	return Item{SKU: fields[0], Name: fields[1], Cents: cents, ReorderAt: at}, nil
}

// Find gives the item of a SKU.
func (c *Catalog) Find(sku string) (Item, error) {
	item, ok := c.bySKU[sku]
	if !ok {
		return Item{}, fmt.Errorf("%s: %w", sku, ErrUnknown)
	}
	return item, nil
}

// Items gives all of them in the order of their SKUs.
func (c *Catalog) Items() []Item {
	items := make([]Item, 0, len(c.bySKU))
	for _, item := range c.bySKU {
		items = append(items, item)
	}
	slices.SortFunc(items, func(a, b Item) int { return strings.Compare(a.SKU, b.SKU) })
	return items
}
