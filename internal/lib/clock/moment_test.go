package clock_test

import (
	"testing"
	"time"

	"company/internal/company"
	"company/internal/lib/clock"
)

// A moment of the past is an age, a time of today, a day, whose beginning it is, or a
// time in full.
func TestParseSince(t *testing.T) {
	now := time.Date(2026, 3, 5, 12, 30, 0, 0, time.Local)
	for text, want := range map[string]time.Time{
		"": {}, "30m": now.Add(-30 * time.Minute), "3d": now.AddDate(0, 0, -3), "0d": now, "0s": now,
		"09:15":                time.Date(2026, 3, 5, 9, 15, 0, 0, time.Local),
		"2026-03-01":           time.Date(2026, 3, 1, 0, 0, 0, 0, time.Local),
		"2026-03-01 10:00":     time.Date(2026, 3, 1, 10, 0, 0, 0, time.Local),
		"2026-03-01T10:00":     time.Date(2026, 3, 1, 10, 0, 0, 0, time.Local),
		"2026-03-01T10:00:00Z": time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC),
	} {
		if got, err := clock.ParseSince(text, now); err != nil || !got.Equal(want) {
			t.Errorf("%q: %s, %v", text, got, err)
		}
	}
	for _, text := range []string{"yesterday", "-5m", "3 days", "25:00", "100000d"} {
		if _, err := clock.ParseSince(text, now); company.CodeOf(err) != company.EUsage {
			t.Errorf("%q: %v", text, err)
		}
	}
}

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
		got, err := clock.ParseDeadline(text, now)
		if err != nil || !got.Equal(want) {
			t.Errorf("%q: %s, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"tomorrow", "-3h", "0d", "0s", "2026-13-01", "17:00", "99999999d"} {
		if _, err := clock.ParseDeadline(text, now); company.CodeOf(err) != company.EUsage {
			t.Errorf("%q: %v", text, err)
		}
	}
}
