package upkeep

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"company/internal/company"
	"company/internal/view"
)

// Report is what a cleanup tells.
type Report struct {
	SchemaVersion int       `json:"schema_version"`
	DryRun        bool      `json:"dry_run"`
	Items         []Garbage `json:"items"` // removed, or to be removed
	Bytes         int64     `json:"bytes"`
	Kept          int       `json:"kept_unmerged"`
	Docker        bool      `json:"docker"` // it was looked for containers and images, too
}

// NewReport is the report of a cleanup that has removed nothing yet.
func NewReport(dryRun bool) Report {
	return Report{SchemaVersion: 1, DryRun: dryRun, Items: []Garbage{}, Docker: true}
}

// RenderText is the report for people.
func (r Report) RenderText() string {
	if len(r.Items) == 0 {
		return "nothing to remove\n"
	}
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, l := range r.Items {
		size := "-"
		if l.Bytes > 0 {
			size = view.FormatBytes(l.Bytes)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", l.Kind, l.Name, size)
	}
	_ = table.Flush() // to memory
	what := "removed"
	if r.DryRun {
		what = "would be removed"
	}
	fmt.Fprintf(&b, "%s %s, %s\n", company.Count(len(r.Items), "thing"), what, view.FormatBytes(r.Bytes))
	return b.String()
}
