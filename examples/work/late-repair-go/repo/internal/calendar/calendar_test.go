package calendar

import (
	"strings"
	"testing"
	"time"

	"example.com/toolshed/internal/dates"
)

const closed = `
# nobody is there
Sunday
01-01 New Year
12-25 Christmas
12-26
2023-08-14 stocktaking
`

func read(t *testing.T, text string) *Calendar {
	t.Helper()
	c, err := Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestReasons(t *testing.T) {
	c := read(t, closed)
	for _, test := range []struct {
		day  dates.Date
		want string
	}{
		{dates.Of(2023, time.March, 5), "closed"},
		{dates.Of(2023, time.March, 6), ""},
		{dates.Of(2023, time.January, 1), "New Year"},
		{dates.Of(2024, time.January, 1), "New Year"},
		{dates.Of(2023, time.December, 25), "Christmas"},
		{dates.Of(2025, time.December, 26), "closed"},
		{dates.Of(2023, time.August, 14), "stocktaking"},
		{dates.Of(2025, time.August, 14), ""},
	} {
		if got := c.Reason(test.day); got != test.want {
			t.Errorf("%v: %q, want %q", test.day, got, test.want)
		}
	}
}

func TestNextOpen(t *testing.T) {
	c := read(t, closed)
	for day, want := range map[dates.Date]dates.Date{
		dates.Of(2023, time.December, 22): dates.Of(2023, time.December, 22),
		dates.Of(2023, time.December, 24): dates.Of(2023, time.December, 27),
		dates.Of(2023, time.August, 13):   dates.Of(2023, time.August, 15),
	} {
		if got := c.NextOpen(day); got != want {
			t.Errorf("from %v on: %v, want %v", day, got, want)
		}
	}
}

func TestCountOpen(t *testing.T) {
	c := read(t, closed)
	if got := c.CountOpen(dates.Of(2023, time.December, 22), dates.Of(2023, time.December, 28)); got != 3 {
		t.Errorf("%d open days at Christmas, want 3", got)
	}
	if got := c.CountOpen(dates.Of(2023, time.March, 8), dates.Of(2023, time.March, 7)); got != 0 {
		t.Errorf("%d open days in no time", got)
	}
}

func TestCalendarsThatAreRefused(t *testing.T) {
	week := "Monday\nTuesday\nWednesday\nThursday\nFriday\nSaturday\nSunday\n"
	for _, text := range []string{week, "Someday", "13-01", "02-29", "2023-02-29 never"} {
		if _, err := Read(strings.NewReader(text)); err == nil {
			t.Errorf("%q is read", text)
		}
	}
	if _, err := Read(strings.NewReader("Sunday\n\nSomeday\n")); err == nil || !strings.Contains(err.Error(), "line 3") {
		t.Errorf("the fault does not name its line: %v", err)
	}
}
