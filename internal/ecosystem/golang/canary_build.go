package golang

import (
	"bytes"
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
	"company/internal/ecosystem"
	"company/internal/ecosystem/testreport"
	"company/internal/lib/lazyregexp"
)

// goBuild describes the builds of a Go gate: on Linux, with the tags of its command, for any version of Go, with or
// without cgo. It ignores which of these the image has, so in doubt a file counts as built.
type goBuild struct {
	tags []string
}

var (
	tagsFlag   = lazyregexp.New(`-tags[= ]([^\s'"]+)`) // also in GOFLAGS
	detectFlag = lazyregexp.New(`\s--?(race|msan|asan)\b`)
)

func goBuildOf(gate company.GateCommand) goBuild {
	var b goBuild
	if all := tagsFlag.FindAllStringSubmatch(gate.Canary, -1); len(all) > 0 {
		b.tags = strings.Split(all[len(all)-1][1], ",")
	}
	for _, m := range detectFlag.FindAllStringSubmatch(gate.Canary, -1) {
		b.tags = append(b.tags, m[1])
	}
	return b
}

// releases lists the build tags of all Go versions, including future ones.
var releases = func() (tags []string) {
	for n := range 100 {
		tags = append(tags, fmt.Sprint("go1.", n))
	}
	return tags
}()

// takes reports whether a file is built, according to its name and build constraint.
func (b goBuild) takes(name string, text []byte) bool {
	for _, cgo := range []bool{true, false} {
		c := build.Default
		c.GOOS = "linux"
		c.GOARCH = runtime.GOARCH
		c.Compiler = "gc"
		c.CgoEnabled = cgo
		c.BuildTags = b.tags
		c.ReleaseTags = releases
		c.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }
		// The compiler reports unreadable files.
		if taken, err := c.MatchFile("", name); taken || err != nil {
			return true
		}
	}
	return false
}

// goFolder describes what a gate builds in one folder.
type goFolder struct {
	built   int      // number of built files
	pkg     string   // its package name; "" if no file has one
	sure    int      // confidence in the source of pkg
	omitted []string // changed paths that are not built, sorted
}

// readFolders reads the Go files in these folders of a tree. Files that are too large to read count as built. changed
// holds the paths that a change touches.
func (b goBuild) readFolders(tree *ecosystem.Tree, changed, dirs []string) map[string]*goFolder {
	out := map[string]*goFolder{}
	var files []ecosystem.File
	for _, dir := range dirs {
		out[dir] = &goFolder{}
		for _, name := range tree.Dirs[dir] {
			f := tree.Files[path.Join(dir, name)]
			switch {
			case path.Ext(name) != ".go":
			case f.Size > ecosystem.MaxManifest:
				out[dir].built++
			default:
				files = append(files, f)
			}
		}
	}
	slices.SortFunc(files, func(a, b ecosystem.File) int { return strings.Compare(a.Path, b.Path) })
	tree.ReadTexts(files, func(file ecosystem.File, text []byte) {
		dir, name := ecosystem.SplitPath(file.Path)
		f := out[dir]
		if !b.takes(name, text) {
			if slices.Contains(changed, file.Path) {
				f.omitted = append(f.omitted, file.Path)
			}
			return
		}
		f.built++
		f.addFile(name, text)
	})
	return out
}

// addFile determines the package name. Tests inside the package are the best source. External tests have the
// package's name with a suffix.
func (f *goFolder) addFile(name string, text []byte) {
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

// omittedFiles describes changed files that a gate does not build. It returns "" if there are none.
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
		out = append(out, testreport.CleanName(p, 60))
	}
	said := "it does not build " + strings.Join(out, ", ")
	if len(all) > most {
		said += fmt.Sprintf(" and %d more", len(all)-most)
	}
	return said
}
