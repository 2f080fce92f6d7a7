package app

import (
	"cmp"
	"context"
	"fmt"

	"company/internal/company"
	"company/internal/gitops"
	"company/internal/office"
	"company/internal/view"
)

// MaxPatch bounds a patch that is shown, in bytes.
const MaxPatch = 8 << 20

// Patch is what changed between two commits that the company holds.
type Patch struct {
	Changes   []company.Change
	Text      []byte // unified diff
	Truncated bool   // the text was longer than the limit
	GitDir    string // the repository that it is of
}

// ReadPatch makes the patch of a range from the git objects that the company holds:
// no checkout is looked at, and nothing of a repository runs. Its text is cut at
// limit bytes; 0: there is none.
func ReadPatch(ctx context.Context, p office.Paths, r view.Range, limit int) (Patch, error) {
	m, err := gitops.LookAt(p.Git, "", r.Project.ID, r.Project.Path)
	if err != nil {
		return Patch{}, err
	}
	d, err := m.DiffAround(ctx, r.From, r.To, limit, cmp.Or(r.Context, view.UsualContext))
	out := Patch{Changes: []company.Change{}, Text: d.Patch, Truncated: d.Truncated, GitDir: m.Dir()}
	for _, c := range d.Changes {
		out.Changes = append(out.Changes, c.Change)
	}
	return out, err
}

// StatText is how much changed, in a line.
func (p Patch) StatText() string {
	n := map[string]int{}
	for _, c := range p.Changes {
		n[c.Action]++
	}
	return fmt.Sprintf("%s: %d created, %d modified, %d deleted", company.Count(len(p.Changes), "file"), n["created"], n["modified"], n["deleted"])
}

// Notes are what a person is to know beside the text of a range's patch, which MaxPatch
// bounds: that nothing changed, or that it was cut.
func (p Patch) Notes(of view.Range) []string {
	switch {
	case len(p.Changes) == 0:
		return []string{fmt.Sprintf("%s changed nothing since %s", of.Of, of.From.Short())}
	case p.Truncated:
		return []string{fmt.Sprintf("cut at %d MiB; all of it: git --git-dir %s diff %s %s", MaxPatch>>20, p.GitDir, of.From, of.To)}
	}
	return nil
}
