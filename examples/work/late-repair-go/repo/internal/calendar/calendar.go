// Package calendar knows on which days the shed is open.
package calendar

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"example.com/toolshed/internal/dates"
)

// Calendar has the days on which the shed is closed.
type Calendar struct {
	weekly map[time.Weekday]string
	yearly map[int]string
	single map[dates.Date]string
}

// New is a calendar without a closed day.
func New() *Calendar {
	return &Calendar{
		weekly: map[time.Weekday]string{},
		yearly: map[int]string{},
		single: map[dates.Date]string{},
	}
}

// Read reads a calendar: a line for each closed day, with its reason behind it. Empty lines and
// those that begin with # say nothing.
func Read(r io.Reader) (*Calendar, error) {
	c := New()
	lines := bufio.NewScanner(r)
	for number := 1; lines.Scan(); number++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		day, reason, _ := strings.Cut(line, " ")
		if err := c.close(day, strings.TrimSpace(reason)); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(c.weekly) == 7 {
		return nil, errors.New("the shed is closed on all days of the week")
	}
	return c, nil
}

// close closes a day: a day of the week, a day of every year such as 12-25, or a date.
func (c *Calendar) close(day, reason string) error {
	if reason == "" {
		reason = "closed"
	}
	for w := time.Sunday; w <= time.Saturday; w++ {
		if strings.EqualFold(day, w.String()) {
			c.weekly[w] = reason
			return nil
		}
	}
	if len(day) == len("12-25") {
		// Any year will do that has no 29 February.
		d, err := dates.Parse("2001-" + day)
		if err != nil {
			return fmt.Errorf("%q is not a day of every year", day)
		}
		c.yearly[d.YearDay()] = reason
		return nil
	}
	d, err := dates.Parse(day)
	if err != nil {
		return err
	}
	c.single[d] = reason
	return nil
}

// Reason says why the shed is closed on a day. It is empty where the shed is open.
func (c *Calendar) Reason(d dates.Date) string {
	if reason := c.single[d]; reason != "" {
		return reason
	}
	if reason := c.yearly[d.YearDay()]; reason != "" {
		return reason
	}
	return c.weekly[d.Weekday()]
}

// IsOpen tells whether the shed is open on a day.
func (c *Calendar) IsOpen(d dates.Date) bool { return c.Reason(d) == "" }

// NextOpen is the first open day from d on. That may be d itself.
func (c *Calendar) NextOpen(d dates.Date) dates.Date {
	for !c.IsOpen(d) {
		d = d.Add(1)
	}
	return d
}

// CountOpen counts the open days after from, up to to and with it.
func (c *Calendar) CountOpen(from, to dates.Date) int {
	count := 0
	for d := from.Add(1); !d.After(to); d = d.Add(1) {
		if c.IsOpen(d) {
			count++
		}
	}
	return count
}
