package upkeep

import (
	"context"
	"errors"
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
	// DockerError is why it was not.
	DockerError string `json:"docker_error,omitempty"`
}

// NewReport is the report of a cleanup that has removed nothing yet.
func NewReport(dryRun bool) Report {
	return Report{SchemaVersion: 1, DryRun: dryRun, Items: []Garbage{}, Docker: true}
}

// Remove removes garbage and notes it; of a dry run it only notes it. Work that was never
// merged is kept, unless unmerged has it go, too. failed are the errors of what stays.
func (r *Report) Remove(ctx context.Context, all []Garbage, unmerged bool) (failed []error) {
	for _, l := range all {
		if l.Unmerged && !unmerged {
			r.Kept++
			continue
		}
		if r.DryRun && l.stays {
			continue
		}
		if !r.DryRun {
			if err := l.Remove(ctx); errors.Is(err, errInUse) {
				continue
			} else if err != nil {
				failed = append(failed, fmt.Errorf("%s %s: %w", l.Kind, l.Name, err))
				continue
			}
		}
		r.Items = append(r.Items, l)
		r.Bytes += l.Bytes
	}
	return failed
}

// RemovalError is the error of a cleanup that could not remove all: that of the first failure, or
// EConfig where the disk itself refused. It returns nil where nothing failed.
func RemovalError(failed []error) error {
	if len(failed) == 0 {
		return nil
	}
	what := company.Count(len(failed), "thing") + " could not be removed"
	e := company.E(company.EConfig, what).Fix("see that the disk is well and that they are yours, then company cleanup once more")
	if own := new(company.Error); errors.As(errors.Join(failed...), &own) {
		e = company.E(own.Code, what).Fix(own.Hint)
	}
	return e.Wrap(errors.Join(failed...))
}

// mostNamed is how many items of a kind are named to people.
const mostNamed = 5

func sizeText(bytes int64) string {
	if bytes == 0 {
		return "-"
	}
	return view.FormatBytes(bytes)
}

// RenderText is the report for people.
func (r Report) RenderText() string {
	if len(r.Items) == 0 {
		return "nothing to remove\n"
	}
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	byKind := map[string][]Garbage{}
	var kinds []string
	for _, l := range r.Items {
		if byKind[l.Kind] == nil {
			kinds = append(kinds, l.Kind)
		}
		byKind[l.Kind] = append(byKind[l.Kind], l)
	}
	for _, kind := range kinds {
		all := byKind[kind]
		var bytes int64
		for i, l := range all {
			bytes += l.Bytes
			if i < mostNamed {
				fmt.Fprintf(table, "%s\t%s\t%s\n", l.Kind, l.Name, sizeText(l.Bytes))
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
