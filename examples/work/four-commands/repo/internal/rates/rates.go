// Package rates knows what an hour of a project costs.
package rates

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"example.com/hours/internal/clock"
	"example.com/hours/internal/money"
)

// Rate is what an hour costs from a day on.
type Rate struct {
	Since clock.Day
	Hour  money.Cents
}

// Table has the rates of each project.
type Table map[string][]Rate

// Find finds the rate of a project on a day: the one that began last.
func (t Table) Find(project string, day clock.Day) (money.Cents, error) {
	var found *Rate
	for i, r := range t[project] {
		if r.Since <= day && (found == nil || r.Since >= found.Since) {
			found = &t[project][i]
		}
	}
	if found == nil {
		return 0, fmt.Errorf("%s has no rate on %s", project, day)
	}
	return found.Hour, nil
}

// Read reads rates: project, first day, price of an hour. Empty lines and those that begin with # are left out.
func Read(r io.Reader) (Table, error) {
	t := Table{}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		f := strings.Fields(lines.Text())
		if len(f) == 0 || strings.HasPrefix(f[0], "#") {
			continue
		}
		if len(f) != 3 {
			return nil, fmt.Errorf("rates: line %d: want project, day and price", n)
		}
		day, err := clock.ParseDay(f[1])
		if err != nil {
			return nil, fmt.Errorf("rates: line %d: %w", n, err)
		}
		hour, err := money.Parse(f[2])
		if err != nil {
			return nil, fmt.Errorf("rates: line %d: %w", n, err)
		}
		t[f[0]] = append(t[f[0]], Rate{day, hour})
	}
	return t, lines.Err()
}
