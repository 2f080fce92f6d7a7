// Package dates has days without a time of day.
package dates

import (
	"fmt"
	"time"
)

const layout = "2006-01-02"

// Date is a day. Two of them are the same day where they are equal.
type Date struct {
	year  int
	month time.Month
	day   int
}

// Of makes a date. A day that the month does not have goes on into the next one.
func Of(year int, month time.Month, day int) Date {
	return fromTime(time.Date(year, month, day, 0, 0, 0, 0, time.UTC))
}

// Parse reads a date such as 2023-03-06.
func Parse(text string) (Date, error) {
	t, err := time.Parse(layout, text)
	if err != nil {
		return Date{}, fmt.Errorf("%q is not a date such as 2023-03-06", text)
	}
	return fromTime(t), nil
}

func fromTime(t time.Time) Date {
	year, month, day := t.Date()
	return Date{year, month, day}
}

func (d Date) time() time.Time {
	return time.Date(d.year, d.month, d.day, 0, 0, 0, 0, time.UTC)
}

// String writes the date as Parse reads it.
func (d Date) String() string { return d.time().Format(layout) }

// IsZero tells whether the date was never set.
func (d Date) IsZero() bool { return d == Date{} }

// Year is the year.
func (d Date) Year() int { return d.year }

// Month is the month.
func (d Date) Month() time.Month { return d.month }

// Day is the day of the month.
func (d Date) Day() int { return d.day }

// Weekday is the day of the week.
func (d Date) Weekday() time.Weekday { return d.time().Weekday() }

// YearDay is the day of the year, from 1.
func (d Date) YearDay() int { return d.time().YearDay() }

// Add is the date so many days later.
func (d Date) Add(days int) Date { return Of(d.year, d.month, d.day+days) }

// Before tells whether the date is earlier than the other.
func (d Date) Before(other Date) bool { return d.time().Before(other.time()) }

// After tells whether the date is later than the other.
func (d Date) After(other Date) bool { return other.Before(d) }
