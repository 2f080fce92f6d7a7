// Package fees says what late tools cost.
package fees

import (
	"maps"
	"slices"

	"example.com/toolshed/internal/calendar"
	"example.com/toolshed/internal/dates"
	"example.com/toolshed/internal/loans"
	"example.com/toolshed/internal/money"
)

// Tariff has the prices.
type Tariff struct {
	Day money.Cents // of each open day after the due one
	Max money.Cents // of a loan
}

// Of is what a loan costs by a day.
func Of(l loans.Loan, by dates.Date, cal *calendar.Calendar, tariff Tariff) money.Cents {
	end := by
	if !l.Returned.IsZero() && l.Returned.Before(by) {
		end = l.Returned
	}
	return min(money.Cents(cal.CountOpen(l.Due, end))*tariff.Day, tariff.Max)
}

// Sum is what a member owes.
type Sum struct {
	Member string
	Fee    money.Cents
}

// ByMember adds the loans of each member up, in the order of the names. Who owes nothing is left out.
func ByMember(all []loans.Loan, by dates.Date, cal *calendar.Calendar, tariff Tariff) []Sum {
	fees := map[string]money.Cents{}
	for _, l := range all {
		if fee := Of(l, by, cal, tariff); fee > 0 {
			fees[l.Member] += fee
		}
	}
	var sums []Sum
	for _, member := range slices.Sorted(maps.Keys(fees)) {
		sums = append(sums, Sum{Member: member, Fee: fees[member]})
	}
	return sums
}
