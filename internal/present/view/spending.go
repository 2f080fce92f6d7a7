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
	"company/internal/lib/safetext"
)

// SpendingRow sums up the cost of a group of runs.
type SpendingRow struct {
	Of           string `json:"of"` // a day (2026-03-01), a model, or a task
	Runs         int    `json:"runs"`
	CostMicroUSD *int64 `json:"cost_micro_usd"`
	Tokens       int64  `json:"tokens"`
}

// Spending is the cost of the ended runs of an office.
type Spending struct {
	SchemaVersion int           `json:"schema_version"`
	Since         *time.Time    `json:"since"` // null means from the beginning
	Total         SpendingRow   `json:"total"`
	ByDay         []SpendingRow `json:"by_day"`   // by end of the run, in local time; newest first
	ByModel       []SpendingRow `json:"by_model"` // most expensive first; "not recorded" for interrupted calls
	ByTask        []SpendingRow `json:"by_task"`  // newest first
}

// unknownModel is the row for spending without a recorded model.
const unknownModel = "not recorded"

// spendingSum collects rows by name.
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
		out = append(
			out, SpendingRow{Of: of, Runs: s[of].runs, CostMicroUSD: costOrNil(s[of].spent), Tokens: s[of].spent.Tokens})
	}
	slices.SortStableFunc(out, order)
	return out
}

// Spending returns the cost of the runs that ended since a time, by day, model and task. The zero time includes all
// runs.
func (src Source) Spending(since time.Time) (Spending, error) {
	spending := Spending{SchemaVersion: 1}
	if !since.IsZero() {
		at := since.UTC()
		spending.Since = &at
	}
	total := spendingSum{}
	days := spendingSum{}
	models := spendingSum{}
	tasks := spendingSum{}
	for _, t := range src.allTasks() {
		id, costs, err := src.costsSince(t, since)
		if err != nil {
			return spending, err
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
	spending.ByDay = days.sortedRows(newest)
	spending.ByModel = models.sortedRows(func(a, b SpendingRow) int {
		return cmp.Or(cmp.Compare(orZero(b.CostMicroUSD), orZero(a.CostMicroUSD)), cmp.Compare(b.Tokens, a.Tokens))
	})
	spending.ByTask = tasks.sortedRows(func(a, b SpendingRow) int {
		return cmp.Or(cmp.Compare(len(b.Of), len(a.Of)), strings.Compare(b.Of, a.Of)) // t12 before t9
	})
	spending.Total = SpendingRow{Of: "total"}
	for _, row := range total.sortedRows(newest) {
		spending.Total = row
	}
	return spending, nil
}

// costsSince returns the cost of a task's runs that ended since a time. It loads an archived task only if some of its
// runs may have ended before.
func (src Source) costsSince(t officeTask, since time.Time) (company.TaskID, company.TaskCosts, error) {
	pastTask := t.past
	switch {
	case pastTask == nil:
		return t.now.ID, t.now.CostsSince(since, time.Local), nil
	case pastTask.Booked.Before(since):
		return pastTask.ID, company.TaskCosts{}, nil
	case !pastTask.Submitted.Before(since):
		return pastTask.ID, pastTask.Costs, nil
	}
	with, err := src.withTask(pastTask.ID)
	if err != nil {
		return pastTask.ID, company.TaskCosts{}, err
	}
	found, err := with.State.Task(pastTask.ID)
	if err != nil {
		return pastTask.ID, company.TaskCosts{}, err
	}
	return pastTask.ID, found.CostsSince(since, time.Local), nil
}

func orZero(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// RenderText renders the spending as tables.
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
	fmt.Fprintf(&b, "total  %s in %s\n", FormatCost(v.Total.CostMicroUSD, v.Total.Tokens),
		company.Count(v.Total.Runs, "finished run"))
	return b.String()
}
