// Package loans makes loans of the events of the journal.
package loans

import (
	"fmt"

	"example.com/toolshed/internal/calendar"
	"example.com/toolshed/internal/dates"
	"example.com/toolshed/internal/journal"
)

// Rules say how long a tool is lent.
type Rules struct {
	Days     int // of a loan, and of a renewal
	Renewals int // how often a loan can be renewed
}

// Loan is a tool that a member has or had.
type Loan struct {
	Tool, Member string
	From, Due    dates.Date
	Returned     dates.Date // zero while the tool is out
	Renewed      int
}

// IsOut tells whether the tool was out on a day.
func (l Loan) IsOut(day dates.Date) bool {
	return !l.From.After(day) && (l.Returned.IsZero() || l.Returned.After(day))
}

// IsLate tells whether the tool was due before a day and still out on it.
func (l Loan) IsLate(day dates.Date) bool { return l.IsOut(day) && l.Due.Before(day) }

// Build makes the loans, in the order in which they began.
func Build(events []journal.Event, cal *calendar.Calendar, rules Rules) ([]Loan, error) {
	var loans []Loan
	out := map[string]int{} // of each tool that is out, the place of its loan
	for _, e := range events {
		at, isOut := out[e.Tool]
		switch {
		case e.Kind == journal.Lend && isOut:
			return nil, fmt.Errorf("line %d: %s is out already, with %s", e.Line, e.Tool, loans[at].Member)
		case e.Kind == journal.Lend:
			out[e.Tool] = len(loans)
			loans = append(loans, Loan{
				Tool:   e.Tool,
				Member: e.Member,
				From:   e.Day,
				Due:    cal.NextOpen(e.Day.Add(rules.Days)),
			})
		case !isOut:
			return nil, fmt.Errorf("line %d: %s is not out", e.Line, e.Tool)
		case e.Kind == journal.Return:
			loans[at].Returned = e.Day
			delete(out, e.Tool)
		default:
			if err := loans[at].renew(e.Day, cal, rules); err != nil {
				return nil, fmt.Errorf("line %d: %w", e.Line, err)
			}
		}
	}
	return loans, nil
}

// renew lets the loan go on from the day on which it is due.
func (l *Loan) renew(day dates.Date, cal *calendar.Calendar, rules Rules) error {
	if l.Due.Before(day) {
		return fmt.Errorf("%s is late and cannot be renewed", l.Tool)
	}
	if l.Renewed == rules.Renewals {
		return fmt.Errorf("%s was renewed %d times", l.Tool, l.Renewed)
	}
	l.Renewed++
	l.Due = cal.NextOpen(l.Due.Add(rules.Days))
	return nil
}
