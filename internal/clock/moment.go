package clock

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/safetext"
)

// ParseSince is the moment that a person's text names: an age (30m, 2h, 3d), a time of
// today, a day, whose beginning it is, or a time in full. An empty text names the
// beginning of all.
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
	return time.Time{}, company.E(company.EUsage, fmt.Sprintf("%q is no time", safetext.EscapeLine(text, 60))).Fix("--since 30m, --since 14:30 or --since 2026-03-01")
}

// ParseDeadline is the moment that a person's text names: a while from now (36h, 3d), a
// day, whose end it is, or a time in full. An empty text names none.
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
	return time.Time{}, company.E(company.EUsage, fmt.Sprintf("%q is no deadline", safetext.EscapeLine(text, 60))).Fix("--deadline 2026-12-01, --deadline 2026-12-01T17:00 or --deadline 36h")
}

// maxDays bounds a span in days.
const maxDays = 100_000

// shiftBySpan moves a time by a span (90s, 30m, 2h, 1h30m, 3d): forward for a sign of 1,
// back for -1. A day has as many hours as the calendar gives it.
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

// parseDate reads a day, or a time of a day; in a place's time where it names no zone.
func parseDate(text string, in *time.Location) (at time.Time, isDay, ok bool) {
	if at, err := time.ParseInLocation(time.DateOnly, text, in); err == nil {
		return at, true, true
	}
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02T15:04:05", time.DateTime, time.RFC3339} {
		if at, err := time.ParseInLocation(layout, text, in); err == nil {
			return at, false, true
		}
	}
	return time.Time{}, false, false
}
