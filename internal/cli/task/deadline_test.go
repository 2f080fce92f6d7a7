package task

import (
	"testing"
	"time"

	"company/internal/company"
)

// A deadline is a day, whose end it is, a time where one is, or a while from now.
func TestParseDeadline(t *testing.T) {
	now := time.Date(2026, 11, 21, 16, 5, 30, 5000, time.Local)
	for text, want := range map[string]time.Time{
		"":                          {},
		"2026-12-01":                time.Date(2026, 12, 1, 23, 59, 59, 0, time.Local),
		"2026-12-01T17:00":          time.Date(2026, 12, 1, 17, 0, 0, 0, time.Local),
		"2026-12-01 17:00":          time.Date(2026, 12, 1, 17, 0, 0, 0, time.Local),
		"2026-12-01T17:00:00+02:00": time.Date(2026, 12, 1, 15, 0, 0, 0, time.UTC),
		"36h":                       time.Date(2026, 11, 23, 4, 5, 30, 0, time.Local),
		"1h30m":                     time.Date(2026, 11, 21, 17, 35, 30, 0, time.Local),
		"3d":                        time.Date(2026, 11, 24, 16, 5, 30, 0, time.Local),
	} {
		got, err := parseDeadline(text, now)
		if err != nil || !got.Equal(want) {
			t.Errorf("%q: %s, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"tomorrow", "-3h", "0d", "0s", "2026-13-01", "17:00", "99999999d"} {
		if _, err := parseDeadline(text, now); company.CodeOf(err) != company.EUsage {
			t.Errorf("%q: %v", text, err)
		}
	}
}
