// Package stock counts what lies on the shelves. It keeps a ledger of
// movements; a quantity is always the sum of those, never a number of its own.
package stock

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Kind is what a movement does.
type Kind string

// The kinds of movements.
const (
	In  Kind = "in"
	Out Kind = "out"
)

// effect is how one piece of a movement changes what is on the shelf.
var effect = map[Kind]int{
	In:  +1,
	Out: -1,
}

// Movement is one line of the ledger.
type Movement struct {
	Kind Kind
	SKU  string
	Qty  int
	Note string // one word, or empty
}

// Ledger is all movements so far.
type Ledger struct {
	movements []Movement
	journal   io.Writer // where new ones are written before they count; nil: nowhere
}

// Open replays past movements; new ones go to the journal as well.
func Open(past io.Reader, journal io.Writer) (*Ledger, error) {
	l := &Ledger{}
	lines := bufio.NewScanner(past)
	for n := 1; lines.Scan(); n++ {
		m, err := parse(lines.Text())
		if err == nil {
			err = l.record(m)
		}
		if err != nil {
			return nil, fmt.Errorf("journal, line %d: %w", n, err)
		}
	}
	l.journal = journal
	return l, lines.Err()
}

func parse(line string) (Movement, error) {
	var m Movement
	if _, err := fmt.Sscanf(line, "%s %s %d", &m.Kind, &m.SKU, &m.Qty); err != nil {
		return m, fmt.Errorf("%q is no movement: kind SKU quantity note", line)
	}
	if fields := strings.Fields(line); len(fields) == 4 {
		m.Note = fields[3]
	}
	return m, nil
}

// record checks a movement, writes it down, and then counts it.
func (l *Ledger) record(m Movement) error {
	if _, known := effect[m.Kind]; !known {
		return fmt.Errorf("%q is no kind of movement", m.Kind)
	}
	if m.Qty <= 0 {
		return fmt.Errorf("%d is no quantity: it must be positive", m.Qty)
	}
	if m.SKU == "" || strings.ContainsAny(m.SKU+m.Note, " \t\n") {
		return fmt.Errorf("%q and %q must be one word each", m.SKU, m.Note)
	}
	if l.journal != nil {
		if _, err := fmt.Fprintf(l.journal, "%s %s %d %s\n", m.Kind, m.SKU, m.Qty, m.Note); err != nil {
			return fmt.Errorf("write the journal: %w", err)
		}
	}
	l.movements = append(l.movements, m)
	return nil
}

// Receive books goods in.
func (l *Ledger) Receive(sku string, qty int, note string) error {
	return l.record(Movement{In, sku, qty, note})
}

// Ship books goods out, as many as there are.
func (l *Ledger) Ship(sku string, qty int, note string) error {
	if have := l.OnHand(sku); qty > have {
		return fmt.Errorf("%d of %s are wanted and %d are there", qty, sku, have)
	}
	return l.record(Movement{Out, sku, qty, note})
}

// OnHand is how many pieces are on the shelf.
func (l *Ledger) OnHand(sku string) int {
	sum := 0
	for _, m := range l.movements {
		if m.SKU == sku {
			sum += effect[m.Kind] * m.Qty
		}
	}
	return sum
}
