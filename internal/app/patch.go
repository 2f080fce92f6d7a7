package app

import (
	"cmp"
	"context"
	"fmt"

	"company/internal/company"
	"company/internal/gitops"
	"company/internal/office"
	"company/internal/present/view"
)

// MaxPatch limits a patch that is shown, in bytes.
const MaxPatch = 8 << 20

// Patch holds the changes between two commits that the company holds.
type Patch struct {
	Changes   []company.Change
	Text      []byte // unified diff
	Truncated bool   // the text was longer than the limit
	GitDir    string // repository of the commits
}

// ReadPatch creates the patch of a range from the git objects that the company holds. It reads no
// checkout and runs no code of a repository. The text is cut at limit bytes. A limit of 0 means no
// text.
func ReadPatch(ctx context.Context, p office.Paths, r view.Range, limit int) (Patch, error) {
	mirror, err := gitops.LookAt(p.Git, "", r.Project.ID, r.Project.Path)
	if err != nil {
		return Patch{}, err
	}
	diff, err := mirror.DiffAround(ctx, r.From, r.To, limit, cmp.Or(r.Context, view.UsualContext))
	out := Patch{Changes: []company.Change{}, Text: diff.Patch, Truncated: diff.Truncated, GitDir: mirror.Dir()}
	for _, c := range diff.Changes {
		out.Changes = append(out.Changes, c.Change)
	}
	return out, err
}

// StatText summarizes the changes in one line.
func (p Patch) StatText() string {
	n := map[string]int{}
	for _, c := range p.Changes {
		n[c.Action]++
	}
	return fmt.Sprintf("%s: %d created, %d modified, %d deleted", company.Count(len(p.Changes), "file"), n["created"],
		n["modified"], n["deleted"])
}

// Notes returns notes about the text of a range's patch: that there are no changes, or that it was
// cut at MaxPatch.
func (p Patch) Notes(of view.Range) []string {
	switch {
	case len(p.Changes) == 0:
		return []string{fmt.Sprintf("%s changed nothing since %s", of.Of, of.From.Short())}
	case p.Truncated:
		return []string{fmt.Sprintf("cut at %d MiB; all of it: git --git-dir %s diff %s %s", MaxPatch>>20, p.GitDir,
			of.From, of.To)}
	}
	return nil
}
