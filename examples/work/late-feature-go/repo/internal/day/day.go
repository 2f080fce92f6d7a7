// Package day has days of the calendar.
package day

import (
	"fmt"
	"time"
)

// Day is a day such as 2026-03-02. Days compare as texts do.
type Day string

// None stands for a day that is not known.
const None Day = ""

const layout = "2006-01-02"

// Parse reads a day.
func Parse(text string) (Day, error) {
	if _, err := time.Parse(layout, text); err != nil {
		return None, fmt.Errorf("no day: %q", text)
	}
	return Day(text), nil
}

// Of gives the day of a time, where that time is.
func Of(t time.Time) Day { return Day(t.Format(layout)) }

// Check reports a day that is not one. None is fine.
func (d Day) Check() error {
	if d == None {
		return nil
	}
	_, err := Parse(string(d))
	return err
}

// Add gives the day that is n days later.
func (d Day) Add(n int) Day {
	if d == None {
		return None
	}
	return Of(d.time().AddDate(0, 0, n))
}

// Since counts the days from another day to this one.
func (d Day) Since(other Day) int {
	return int(d.time().Sub(other.time()) / (24 * time.Hour))
}

// Or gives the day as a text, and another text for None.
func (d Day) Or(text string) string {
	if d == None {
		return text
	}
	return string(d)
}

func (d Day) time() time.Time {
	t, err := time.Parse(layout, string(d))
	if err != nil {
		panic(fmt.Sprintf("day: %q was never parsed", string(d)))
	}
	return t
}
