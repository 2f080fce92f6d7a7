package clock

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/lib/safetext"
)

// ParseSince parses a start time: an age (30m, 2h, 3d), a time of today, a day (its start), or a full time. For an
// empty text it returns the zero time.
func ParseSince(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if at, ok := shiftBySpan(text, now, -1); ok {
		return at, nil
	}
	here := now.Local()
	for _, layout := range []string{"15:04", time.TimeOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			year, month, day := here.Date()
			return time.Date(year, month, day, at.Hour(), at.Minute(), at.Second(), 0, here.Location()), nil
		}
	}
	if at, _, ok := parseDate(text, here.Location()); ok {
		return at, nil
	}
	return time.Time{}, company.E(company.EUsage, fmt.Sprintf("invalid time %q", safetext.EscapeLine(text, 60))).
		Fix("--since 30m, --since 14:30 or --since 2026-03-01")
}

// ParseDeadline parses a deadline: a duration from now (36h, 3d), a day (its end), or a full time. For an empty text
// it returns the zero time.
func ParseDeadline(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if at, ok := shiftBySpan(text, now, 1); ok && at.After(now) {
		return at.Truncate(time.Second), nil
	}
	at, isDay, ok := parseDate(text, now.Local().Location())
	switch {
	case isDay:
		return time.Date(at.Year(), at.Month(), at.Day(), 23, 59, 59, 0, at.Location()), nil
	case ok:
		return at, nil
	}
	return time.Time{}, company.E(company.EUsage, fmt.Sprintf("invalid deadline %q", safetext.EscapeLine(text, 60))).
		Fix("--deadline 2026-12-01, --deadline 2026-12-01T17:00 or --deadline 36h")
}

// maxDays limits a span in days.
const maxDays = 100_000

// shiftBySpan moves a time by a span (90s, 30m, 2h, 1h30m, 3d). A sign of 1 moves it forward, -1 back. Days are
// calendar days.
func shiftBySpan(text string, at time.Time, sign int) (time.Time, bool) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 && n < maxDays {
			return at.AddDate(0, 0, sign*n), true
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return at.Add(time.Duration(sign) * d), true
	}
	return time.Time{}, false
}

// parseDate parses a day, or a day with a time. A text without a time zone is read in the given location.
func parseDate(text string, in *time.Location) (at time.Time, isDay, ok bool) {
	if at, err := time.ParseInLocation(time.DateOnly, text, in); err == nil {
		return at, true, true
	}
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02T15:04:05", time.DateTime,
		time.RFC3339} {
		if at, err := time.ParseInLocation(layout, text, in); err == nil {
			return at, false, true
		}
	}
	return time.Time{}, false, false
}
