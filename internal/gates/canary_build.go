package gates

import (
	"bytes"
	"context"
	"fmt"
	"go/build"
	"go/parser"
	"go/token"
	"io"
	"path"
	"runtime"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/gitops"
)

// goBuild is what a gate of Go builds: on Linux, with the tags of its command.
type goBuild struct {
	tags []string
}

func goBuildOf(gate company.GateCommand) goBuild {
	var b goBuild
	words := strings.Fields(gate.Canary)
	for i, w := range words {
		w = strings.TrimPrefix(strings.TrimPrefix(w, "-"), "-")
		value, ok := strings.CutPrefix(w, "tags=")
		if !ok && w == "tags" && i+1 < len(words) {
			value, ok = words[i+1], true
		}
		if ok {
			b.tags = strings.Split(value, ",") // the last one counts
		}
	}
	return b
}

// takes says whether a file is built, by its name and its build constraint.
func (b goBuild) takes(name string, text []byte) bool {
	c := build.Default
	c.GOOS, c.GOARCH, c.Compiler, c.CgoEnabled, c.BuildTags = "linux", runtime.GOARCH, "gc", true, b.tags
	c.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }
	taken, err := c.MatchFile("", name)
	return taken || err != nil // what cannot be read is for the compiler to refuse
}

// goFolder is what a gate builds of one folder.
type goFolder struct {
	built   int      // files
	pkg     string   // its package; empty: no file tells
	sure    int      // how well the file that told pkg knows it
	omitted []string // paths that the change touches and that are not built, sorted
}

// goFolders read the Go files of these folders. What is too large to be looked
// at counts as built.
func (g grown) goFolders(ctx context.Context, gate company.GateCommand, files map[string]gitops.Entry, dirs []string) (map[string]*goFolder, error) {
	b, out := goBuildOf(gate), map[string]*goFolder{}
	for _, dir := range dirs {
		out[dir] = &goFolder{}
	}
	var entries []gitops.Entry
	for p, e := range files {
		if dir, _ := split(p); out[dir] == nil || path.Ext(p) != ".go" {
			continue
		}
		if e.Size > maxManifest {
			dir, _ := split(p)
			out[dir].built++
			continue
		}
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b gitops.Entry) int { return strings.Compare(a.Path, b.Path) })
	return out, g.m.ReadFiles(ctx, entries, func(e gitops.Entry, text []byte) error {
		dir, name := split(e.Path)
		f := out[dir]
		if !b.takes(name, text) {
			if slices.Contains(g.changed, e.Path) {
				f.omitted = append(f.omitted, e.Path)
			}
			return nil
		}
		f.built++
		f.see(name, text)
		return nil
	})
}

// see finds the name of the package. Tests within it know it best; tests beside
// it tell it by what they add to it.
func (f *goFolder) see(name string, text []byte) {
	parsed, err := parser.ParseFile(token.NewFileSet(), name, text, parser.PackageClauseOnly)
	if err != nil {
		return
	}
	pkg, sure := parsed.Name.Name, 2
	if strings.HasSuffix(name, "_test.go") {
		if sure = 3; strings.HasSuffix(pkg, "_test") {
			pkg, sure = strings.TrimSuffix(pkg, "_test"), 1
		}
	}
	if sure > f.sure {
		f.pkg, f.sure = pkg, sure
	}
}

// omittedFiles says that a gate does not build some of what is changed; empty:
// it builds all of it.
func omittedFiles(folders map[string]*goFolder) string {
	var all []string
	for _, f := range folders {
		all = append(all, f.omitted...)
	}
	if len(all) == 0 {
		return ""
	}
	slices.Sort(all)
	const most = 3
	out := make([]string, 0, most)
	for _, p := range all[:min(len(all), most)] {
		out = append(out, clean(p, 60))
	}
	said := "it does not build " + strings.Join(out, ", ")
	if len(all) > most {
		said += fmt.Sprintf(" and %d more", len(all)-most)
	}
	return said
}
