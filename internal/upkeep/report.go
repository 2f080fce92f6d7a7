package upkeep

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"company/internal/company"
	"company/internal/present/view"
)

// Report is the result of a cleanup.
type Report struct {
	SchemaVersion int       `json:"schema_version"`
	DryRun        bool      `json:"dry_run"`
	Items         []Garbage `json:"items"` // removed, or to be removed
	Bytes         int64     `json:"bytes"`
	Kept          int       `json:"kept_unmerged"`
	Docker        bool      `json:"docker"` // containers and images were searched, too
	// DockerError is the reason if they were not.
	DockerError string `json:"docker_error,omitempty"`
}

// NewReport returns the report of a cleanup before any removal.
func NewReport(dryRun bool) Report {
	return Report{SchemaVersion: 1, DryRun: dryRun, Items: []Garbage{}, Docker: true}
}

// Remove removes garbage and adds it to the report. In a dry run it only adds it. Unmerged work is kept unless
// unmerged is set. failed lists the errors of items that could not be removed.
func (r *Report) Remove(ctx context.Context, all []Garbage, unmerged bool) (failed []error) {
	for _, garbage := range all {
		if garbage.Unmerged && !unmerged {
			r.Kept++
			continue
		}
		if r.DryRun && garbage.stays {
			continue
		}
		if !r.DryRun {
			if err := garbage.Remove(ctx); errors.Is(err, errInUse) {
				continue
			} else if err != nil {
				failed = append(failed, fmt.Errorf("%s %s: %w", garbage.Kind, garbage.Name, err))
				continue
			}
		}
		r.Items = append(r.Items, garbage)
		r.Bytes += garbage.Bytes
	}
	return failed
}

// RemovalError returns the error for a cleanup that could not remove all items. It has the code of the first
// company.Error, or EConfig for other failures. It returns nil if there is no failure.
func RemovalError(failed []error) error {
	if len(failed) == 0 {
		return nil
	}
	what := company.Count(len(failed), "thing") + " could not be removed"
	fault := company.E(company.EConfig, what).
		Fix("check the disk and that you own them, then run company cleanup again")
	if own := new(company.Error); errors.As(errors.Join(failed...), &own) {
		fault = company.E(own.Code, what).Fix(own.Hint)
	}
	return fault.Wrap(errors.Join(failed...))
}

// mostNamed is how many items of a kind are listed.
const mostNamed = 5

func sizeText(bytes int64) string {
	if bytes == 0 {
		return "-"
	}
	return view.FormatBytes(bytes)
}

// RenderText renders the report as text.
func (r Report) RenderText() string {
	if len(r.Items) == 0 {
		return "nothing to remove\n"
	}
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	byKind := map[string][]Garbage{}
	var kinds []string
	for _, garbage := range r.Items {
		if byKind[garbage.Kind] == nil {
			kinds = append(kinds, garbage.Kind)
		}
		byKind[garbage.Kind] = append(byKind[garbage.Kind], garbage)
	}
	for _, kind := range kinds {
		all := byKind[kind]
		var bytes int64
		for i, garbage := range all {
			bytes += garbage.Bytes
			if i < mostNamed {
				fmt.Fprintf(table, "%s\t%s\t%s\n", garbage.Kind, garbage.Name, sizeText(garbage.Bytes))
			}
		}
		if more := len(all) - mostNamed; more > 0 {
			fmt.Fprintf(table, "%s\tand %d more (-o json names them), in all\t%s\n", kind, more, sizeText(bytes))
		}
	}
	_ = table.Flush() // to memory
	what := "removed"
	if r.DryRun {
		what = "would be removed"
	}
	fmt.Fprintf(&b, "%s %s, %s\n", company.Count(len(r.Items), "thing"), what, view.FormatBytes(r.Bytes))
	return b.String()
}
