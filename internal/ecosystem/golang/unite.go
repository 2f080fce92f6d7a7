package golang

import (
	"bytes"
	"cmp"
	"go/version"
	"maps"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"company/internal/ecosystem"
)

var _ ecosystem.Uniter = Ecosystem{}

// Unites reports whether a file is go.sum or go.mod.
func (Ecosystem) Unites(name string) bool { return name == "go.sum" || name == "go.mod" }

// Unite keeps all lines of both sides of a go.sum. For a go.mod, it keeps all requirements of both sides with the
// higher version, as the go command itself selects them.
func (Ecosystem) Unite(name string, base, ours, theirs []byte) ([]byte, bool) {
	switch name {
	case "go.sum":
		return uniteSums(ours, theirs)
	case "go.mod":
		return uniteModules(base, ours, theirs)
	}
	return nil, false
}

// uniteSums returns every line of both sides in the go command's order. It keeps lines that one side has removed,
// because the other may need them and extra lines are harmless. It returns false if the sides have different hashes
// of one module.
func uniteSums(ours, theirs []byte) ([]byte, bool) {
	hashes := map[module.Version]string{}
	for _, side := range [][]byte{ours, theirs} {
		for line := range strings.Lines(string(side)) {
			f := strings.Fields(line)
			if len(f) == 0 {
				continue
			}
			if len(f) != 3 || !strings.HasPrefix(f[2], "h1:") {
				return nil, false
			}
			m := module.Version{Path: f[0], Version: f[1]}
			if known, ok := hashes[m]; ok && known != f[2] {
				return nil, false
			}
			hashes[m] = f[2]
		}
	}
	all := slices.Collect(maps.Keys(hashes))
	module.Sort(all)
	var out bytes.Buffer
	for _, m := range all {
		out.WriteString(m.Path + " " + m.Version + " " + hashes[m] + "\n")
	}
	return out.Bytes(), true
}

// requirement is a module that a go.mod requires.
type requirement struct {
	version  string
	indirect bool
}

// uniteModules merges the requirements and the go version of two sides. It returns false if the sides differ in other
// lines.
func uniteModules(base, ours, theirs []byte) ([]byte, bool) {
	var files [3]*modfile.File
	for i, text := range [][]byte{base, ours, theirs} {
		f, err := modfile.Parse("go.mod", text, nil)
		if err != nil || f.Module == nil {
			return nil, false
		}
		files[i] = f
	}
	was := files[0]
	out := files[1]
	other := files[2]
	if formatRest(out) != formatRest(other) || hasRemarks(other) {
		return nil, false
	}
	had := requirementsOf(was)
	mine := requirementsOf(out)
	yours := requirementsOf(other)
	remarked := map[string]bool{} // modules with a comment in ours, which may not apply to another version
	for _, r := range out.Require {
		remarked[r.Mod.Path] = len(remarksOf(r.Syntax)) > 0
	}
	paths := map[string]bool{}
	for _, m := range []map[string]requirement{had, mine, yours} {
		for p := range m {
			paths[p] = true
		}
	}
	var list []*modfile.Require
	for _, p := range slices.Sorted(maps.Keys(paths)) {
		r, keep, ok := uniteRequirement(had, mine, yours, p)
		if !ok || remarked[p] && (!keep || r.version != mine[p].version) {
			return nil, false
		}
		if keep {
			list = append(list, &modfile.Require{Mod: module.Version{Path: p, Version: r.version}, Indirect: r.indirect})
		}
	}
	out.SetRequireSeparateIndirect(list)
	if v := laterGo(out.Go, other.Go); v != "" {
		if err := out.AddGoStmt(v); err != nil {
			return nil, false
		}
	}
	out.Cleanup()
	text, err := out.Format()
	return text, err == nil
}

// uniteRequirement returns the merged line of one module. If both sides have changed it, the higher version counts.
// It returns false if one side has removed a line that the other has changed.
func uniteRequirement(had, mine, yours map[string]requirement, path string) (_ requirement, keep, ok bool) {
	b, inBase := had[path]
	o, inOurs := mine[path]
	t, inTheirs := yours[path]
	switch {
	case inOurs == inTheirs && o == t:
		return o, inOurs, true
	case inOurs == inBase && o == b:
		return t, inTheirs, true
	case inTheirs == inBase && t == b:
		return o, inOurs, true
	case !inOurs || !inTheirs:
		return requirement{}, false, false
	}
	r := requirement{version: o.version, indirect: o.indirect && t.indirect}
	if semver.Compare(t.version, o.version) > 0 {
		r.version = t.version
	}
	return r, true, true
}

func requirementsOf(f *modfile.File) map[string]requirement {
	out := map[string]requirement{}
	for _, r := range f.Require {
		out[r.Mod.Path] = requirement{r.Mod.Version, r.Indirect}
	}
	return out
}

// laterGo returns the later of two go versions, or "" if there is none.
func laterGo(a, b *modfile.Go) string {
	x, y := "", ""
	if a != nil {
		x = a.Version
	}
	if b != nil {
		y = b.Version
	}
	if version.Compare("go"+y, "go"+x) > 0 {
		return y
	}
	return cmp.Or(x, y)
}

// formatRest returns a go.mod without its requirements and its go version, as one text. It includes the comments at
// the remaining lines, because a deprecation is such a comment.
func formatRest(f *modfile.File) string {
	var lines []string
	for _, s := range f.Syntax.Stmt {
		switch s := s.(type) {
		case *modfile.CommentBlock:
			lines = append(lines, remarksOf(s)...)
		case *modfile.Line:
			if text := restLine(s.Token[0], s.Token[1:]); text != "" {
				lines = append(append(lines, text), remarksOf(s)...)
			}
		case *modfile.LineBlock:
			for _, l := range s.Line {
				if text := restLine(s.Token[0], l.Token); text != "" {
					lines = append(append(lines, text), remarksOf(l)...)
				}
			}
		}
	}
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "\n")
}

func restLine(verb string, rest []string) string {
	if verb == "require" || verb == "go" {
		return ""
	}
	return verb + " " + strings.Join(rest, " ")
}

// remarksOf returns the comments at a line, except "// indirect".
func remarksOf(e modfile.Expr) (out []string) {
	c := e.Comment()
	for _, one := range slices.Concat(c.Before, c.Suffix, c.After) {
		if text := strings.TrimSpace(one.Token); text != "// indirect" {
			out = append(out, text)
		}
	}
	return out
}

// hasRemarks reports whether a requirement has a comment that people wrote and that merging would lose.
func hasRemarks(f *modfile.File) bool {
	return slices.ContainsFunc(f.Require, func(r *modfile.Require) bool { return len(remarksOf(r.Syntax)) > 0 })
}
