package view

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"company/internal/company"
	"company/internal/safetext"
)

// SpendingRow is what runs cost that have something in common.
type SpendingRow struct {
	Of           string `json:"of"` // a day (2026-03-01), a model, or a task
	Runs         int    `json:"runs"`
	CostMicroUSD *int64 `json:"cost_micro_usd"`
	Tokens       int64  `json:"tokens"`
}

// Spending is what the runs of an office cost that have ended.
type Spending struct {
	SchemaVersion int           `json:"schema_version"`
	Since         *time.Time    `json:"since"` // null: from the beginning
	Total         SpendingRow   `json:"total"`
	ByDay         []SpendingRow `json:"by_day"`   // of the end of a run, in this machine's time; the newest first
	ByModel       []SpendingRow `json:"by_model"` // the dearest first; "not recorded": by an older version, or a call that was cut
	ByTask        []SpendingRow `json:"by_task"`  // the newest first
}

// unknownModel stands for spending without a record of its model.
const unknownModel = "not recorded"

// spendingSum collects rows.
type spendingSum map[string]*struct {
	runs  int
	spent company.Amount
}

func (s spendingSum) add(of string, row company.CostRow) {
	if s[of] == nil {
		s[of] = &struct {
			runs  int
			spent company.Amount
		}{}
	}
	s[of].runs += row.Runs
	s[of].spent = s[of].spent.Add(row.Spent)
}

func (s spendingSum) sortedRows(order func(a, b SpendingRow) int) []SpendingRow {
	out := []SpendingRow{}
	for _, of := range slices.Sorted(maps.Keys(s)) {
		out = append(out, SpendingRow{Of: of, Runs: s[of].runs, CostMicroUSD: costOrNil(s[of].spent), Tokens: s[of].spent.Tokens})
	}
	slices.SortStableFunc(out, order)
	return out
}

// Spending is what the runs that ended since then cost, by day, model and task; the zero
// time: all of them.
func (src Source) Spending(since time.Time) (Spending, error) {
	v := Spending{SchemaVersion: 1}
	if !since.IsZero() {
		at := since.UTC()
		v.Since = &at
	}
	total, days, models, tasks := spendingSum{}, spendingSum{}, spendingSum{}, spendingSum{}
	for _, t := range src.allTasks() {
		id, costs, err := src.costsSince(t, since)
		if err != nil {
			return v, err
		}
		for _, row := range costs.Days {
			total.add("total", row)
			days.add(row.Of, row)
			tasks.add(string(id), row)
		}
		for _, row := range costs.Models {
			if row.Of == "" {
				models.add(unknownModel, row)
				continue
			}
			models.add(safetext.EscapeLine(row.Of, 80), row)
		}
	}
	newest := func(a, b SpendingRow) int { return strings.Compare(b.Of, a.Of) }
	v.ByDay = days.sortedRows(newest)
	v.ByModel = models.sortedRows(func(a, b SpendingRow) int {
		return cmp.Or(cmp.Compare(orZero(b.CostMicroUSD), orZero(a.CostMicroUSD)), cmp.Compare(b.Tokens, a.Tokens))
	})
	v.ByTask = tasks.sortedRows(func(a, b SpendingRow) int {
		return cmp.Or(cmp.Compare(len(b.Of), len(a.Of)), strings.Compare(b.Of, a.Of)) // t12 before t9
	})
	v.Total = SpendingRow{Of: "total"}
	for _, row := range total.sortedRows(newest) {
		v.Total = row
	}
	return v, nil
}

// costsSince is what the runs of a task cost that ended since then. An archived task
// is read where some of its runs may have ended before.
func (src Source) costsSince(t officeTask, since time.Time) (company.TaskID, company.TaskCosts, error) {
	p := t.past
	switch {
	case p == nil:
		return t.now.ID, t.now.CostsSince(since, time.Local), nil
	case p.Booked.Before(since):
		return p.ID, company.TaskCosts{}, nil
	case !p.Submitted.Before(since):
		return p.ID, p.Costs, nil
	}
	with, err := src.withTask(p.ID)
	if err != nil {
		return p.ID, company.TaskCosts{}, err
	}
	found, err := with.State.Task(p.ID)
	if err != nil {
		return p.ID, company.TaskCosts{}, err
	}
	return p.ID, found.CostsSince(since, time.Local), nil
}

func orZero(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// RenderText is what people read.
func (v Spending) RenderText() string {
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	section := func(title string, rows []SpendingRow) {
		fmt.Fprintf(table, "%s\tRUNS\tCOST\n", title)
		for _, row := range rows {
			fmt.Fprintf(table, "%s\t%d\t%s\n", row.Of, row.Runs, FormatCost(row.CostMicroUSD, row.Tokens))
		}
		fmt.Fprintln(table)
	}
	section("DAY", v.ByDay)
	section("MODEL", v.ByModel)
	section("TASK", v.ByTask)
	_ = table.Flush() // into memory
	fmt.Fprintf(&b, "total  %s in %s that ended\n", FormatCost(v.Total.CostMicroUSD, v.Total.Tokens), company.Count(v.Total.Runs, "run"))
	return b.String()
}
