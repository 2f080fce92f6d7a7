// Package strangers runs the company on repositories that it was not made for:
// open-source Go modules of our own dependency graph, copied out of the module
// cache, and projects in the shapes that people have (test/fixtures). Each
// goes the whole way as a user's would: nothing configured but the model, the
// image prepared, the baseline run, one change with its test merged, and a
// pull request. It owns the list, the walk and the table in docs/strangers.md.
package strangers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Stranger is one repository and the change that is made to it.
type Stranger struct {
	Name    string
	Version string // of a module
	Kind    string // go, or the shape of a fixture
	Short   bool   // one of those that every `make test` runs
	Module  string // to be copied out of the module cache
	Folder  string // below test/fixtures
	Change  []File
	Check   string // what the worker runs before it commits
}

// File is a file of a repository.
type File struct{ Path, Text string }

// Modules are the Go strangers, small and large. None needs cgo.
var Modules = []Stranger{
	{Name: "doublestar", Module: "github.com/bmatcuk/doublestar/v4", Short: true},
	{Name: "uuid", Module: "github.com/google/uuid", Short: true},
	{Name: "yamux", Module: "github.com/hashicorp/yamux"},
	{Name: "renameio", Module: "github.com/google/renameio/v2"},
	{Name: "logr", Module: "github.com/go-logr/logr"},
	{Name: "go-cmp", Module: "github.com/google/go-cmp"},
	{Name: "goccy/go-yaml", Module: "github.com/goccy/go-yaml"},
	{Name: "logrus", Module: "github.com/sirupsen/logrus"},
	{Name: "x/mod", Module: "golang.org/x/mod"},
	{Name: "jwt", Module: "github.com/nats-io/jwt/v2"},
	{Name: "sh", Module: "mvdan.cc/sh/v3"},
	{Name: "x/text", Module: "golang.org/x/text"},
}

// module finds a module of our graph in the module cache, and makes up the
// change: a function and its test, in files that the module does not have.
func (s Stranger) module(ctx context.Context, root string) (Stranger, map[string]string, error) {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", s.Module)
	cmd.Dir = root
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return s, nil, fmt.Errorf("%s is not in the module cache: %w: %s", s.Module, err, errs.String())
	}
	var m struct{ Version, Dir string }
	if err := json.Unmarshal(out, &m); err != nil {
		return s, nil, err
	}
	files, err := tree(m.Dir)
	if err != nil {
		return s, nil, err
	}
	dir, name, err := goPackage(files)
	if err != nil {
		return s, nil, fmt.Errorf("%s: %w", s.Module, err)
	}
	s.Version, s.Kind = m.Version, "go"
	s.Change = []File{
		{path.Join(dir, "company_clamp.go"), "package " + name + `

// companyClamp is n, or the nearest of low and high when it is beyond them.
func companyClamp(n, low, high int) int {
	if n < low {
		return low
	}
	if n > high {
		return high
	}
	return n
}
`},
		{path.Join(dir, "company_clamp_test.go"), "package " + name + `

import "testing"

func TestCompanyClamp(t *testing.T) {
	for _, c := range [][4]int{{5, 1, 9, 5}, {0, 1, 9, 1}, {10, 1, 9, 9}} {
		if got := companyClamp(c[0], c[1], c[2]); got != c[3] {
			t.Errorf("companyClamp(%d, %d, %d) = %d, want %d", c[0], c[1], c[2], got, c[3])
		}
	}
}
`},
	}
	s.Check = "go test -run '^TestCompanyClamp$' ./" + dir
	return s, files, nil
}

// goPackage is the first folder with a package that tests can be added to,
// the root before all others.
func goPackage(files map[string]string) (dir, name string, err error) {
	var paths []string
	for p := range files {
		d := path.Dir(p)
		if strings.HasSuffix(p, ".go") && !strings.HasSuffix(p, "_test.go") && !strings.Contains(d, "testdata") && !strings.Contains(d, "internal") {
			paths = append(paths, p)
		}
	}
	slices.SortFunc(paths, func(a, b string) int {
		if c := strings.Count(a, "/") - strings.Count(b, "/"); c != 0 {
			return c
		}
		return strings.Compare(a, b)
	})
	for _, p := range paths {
		f, err := parser.ParseFile(token.NewFileSet(), p, files[p], parser.PackageClauseOnly|parser.ParseComments)
		if err != nil || f.Name.Name == "main" || strings.Contains(files[p], "\n//go:build ignore") || strings.HasPrefix(files[p], "//go:build ignore") {
			continue
		}
		return path.Dir(p), f.Name.Name, nil
	}
	return "", "", errors.New("it has no package")
}

// fixture reads a project of ours.
func (s Stranger) fixture(root string) (map[string]string, error) {
	return tree(filepath.Join(root, "test", "fixtures", s.Folder))
}

// tree reads all files below a folder.
func tree(dir string) (map[string]string, error) {
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		files[filepath.ToSlash(rel)] = string(text)
		return err
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s is empty", dir)
	}
	return files, err
}

// Row is what came of one stranger.
type Row struct {
	Name, Version, Kind string
	Files               int
	Baseline            string // what the checks of the base said
	Result, Why         string
	Prepare, Total      time.Duration // of the image and all before the baseline; of the whole
	Check, Canary       time.Duration // of the tests of the ticket; of the proof beside them that they look at the change
	Proven              []string      // folders of the change that the tests look at
}
