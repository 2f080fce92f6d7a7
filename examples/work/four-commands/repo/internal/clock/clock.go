// Package clock has days, months and times of day, without zones.
package clock

import (
	"fmt"
	"time"
)

// Day is a day, counted from the first of January 1970.
type Day int

// ParseDay reads a day such as 2026-03-02.
func ParseDay(text string) (Day, error) {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return 0, fmt.Errorf("%q is no day", text)
	}
	return Day(t.Unix() / 86400), nil
}

func (d Day) time() time.Time { return time.Unix(int64(d)*86400, 0).UTC() }

func (d Day) String() string { return d.time().Format(time.DateOnly) }

// Weekday is the day of the week.
func (d Day) Weekday() time.Weekday { return d.time().Weekday() }

// Month is the month that a day is in.
func (d Day) Month() Month {
	t := d.time()
	return Month{t.Year(), t.Month()}
}

// Month is a month of a year.
type Month struct {
	Year  int
	Month time.Month
}

// ParseMonth reads a month such as 2026-03.
func ParseMonth(text string) (Month, error) {
	t, err := time.Parse("2006-01", text)
	if err != nil {
		return Month{}, fmt.Errorf("%q is no month", text)
	}
	return Month{t.Year(), t.Month()}, nil
}

func (m Month) String() string { return fmt.Sprintf("%04d-%02d", m.Year, m.Month) }

// Minute is a time of day in minutes since midnight, or a length of time.
type Minute int

// Midnight is the end of a day.
const Midnight Minute = 24 * 60

// ParseMinute reads a time of day such as 09:05; 24:00 is the end of the day.
func ParseMinute(text string) (Minute, error) {
	if text == "24:00" {
		return Midnight, nil
	}
	t, err := time.Parse("15:04", text)
	if err != nil || len(text) != 5 {
		return 0, fmt.Errorf("%q is no time of day", text)
	}
	return Minute(t.Hour()*60 + t.Minute()), nil
}

// String is the time of day, with two digits for hours and minutes.
func (m Minute) String() string { return fmt.Sprintf("%02d:%02d", m/60, m%60) }

// Hours is the length of time in hours and minutes, such as 7:30 or 112:05.
func (m Minute) Hours() string { return fmt.Sprintf("%d:%02d", m/60, m%60) }
