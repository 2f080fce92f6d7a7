package demo

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Next says where to look after a demo.
func (o Outcome) Next(company string) string {
	var b strings.Builder
	p := o.Place
	fmt.Fprintf(&b, "\nlook closer:\n")
	page := filepath.Join(p.State(), "pulls", "1.md")
	fmt.Fprintf(&b, "  the pull request's page: %s\n", page)
	fmt.Fprintf(&b, "  what was pushed:         git --git-dir %s log --graph --oneline --all\n", p.Origin)
	fmt.Fprintf(&b, "  each run's record:       ls %s\n", filepath.Join(p.Repo, ".company", "runtime", "runs"))
	fmt.Fprintf(&b, "  the daemon's own words:  %s\n", filepath.Join(p.Dir, "docker-events.jsonl"))
	fmt.Fprintf(&b, "  and in %s:\n", p.Repo)
	for _, c := range []string{"show t1", "pr show 1", "pr diff 1", "diff t1-02", "logs t1-02-merge.1"} {
		fmt.Fprintf(&b, "    %s %s\n", company, c)
	}
	return b.String()
}

// keep is how many earlier demos stay to be looked at.
const keep = 3

// KeepFew removes all but the newest few demos below temp, by their marker;
// next, which is about to be made, is left alone.
func KeepFew(temp, next string) error {
	marks, err := filepath.Glob(filepath.Join(temp, "company-demo-*", marker))
	if err != nil {
		return err
	}
	type old struct {
		dir  string
		when int64
	}
	var all []old
	for _, m := range marks {
		info, err := os.Stat(m)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if dir := filepath.Dir(m); dir != next {
			all = append(all, old{dir, info.ModTime().UnixNano()})
		}
	}
	slices.SortFunc(all, func(a, b old) int { return int(b.when - a.when) })
	for _, o := range all[min(keep, len(all)):] {
		if err := os.RemoveAll(o.dir); err != nil {
			return err
		}
	}
	return nil
}
